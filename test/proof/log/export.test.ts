import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endedRun } from '../../../bench/ended-run.ts'
import { insertEnded, numberEnded } from '../../../bench/stored-runs.ts'
import { openFiles } from '../../../src/cli/audit-files.ts'
import { auditFiles } from '../../../src/proof/audit/audit.ts'
import { signCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { exportLog, type LogExport, type LogFolder } from '../../../src/proof/log/export-log.ts'
import { logNoteKey } from '../../../src/proof/log/notes.ts'
import { logFolder } from '../../../src/proof/log/store/log-folder.ts'
import { parseHead } from '../../../src/verify/checkpoint-note.ts'
import { parseNote } from '../../../src/verify/signed-note.ts'
import { promise } from '../../support/promise.ts'
import { lastRun, pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(120_000)

for (const engine of engines) {
  describe(`the log as static files, on ${engine}`, () => {
    let w: World
    let folder = ''
    let files: LogFolder
    let keyId = ''
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'counterfoil-export-'))
      files = logFolder(folder, 'new')
      w = await world({ engine, toml: pricedBuiltins })
      const { secret } = await w.key({ balance: 10n * usd })
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      await w.call('/v1/runs', { key: secret, json })
      keyId = (await lastRun(w)).keyId
      await grow(299)
    })
    afterAll(async () => {
      await w.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    /** Adds receipts to the log and signs its head. */
    async function grow(count: number): Promise<void> {
      const { issuer } = w.deps.settings
      const runs = Array.from({ length: count }, (_, index) => {
        const id = w.deps.ids.make('run')
        const about = { id, issuer, account: testAccount, keyId, finishedAt: 1 + index, index }
        return { ...endedRun(about), digest: new Uint8Array(32).fill(index) }
      })
      await w.db.write(() => insertEnded(w.db, runs))
      await numberEnded(w.db, w.deps.logStore)
      await signCheckpoint(w.deps)
    }
    const exported = (to = files): Promise<LogExport | undefined> =>
      exportLog(w.deps, w.deps.logs.current, to)
    const refused = async (to = files): Promise<string> =>
      exported(to).then(
        () => 'nothing was refused',
        (error: Error) => `${error.constructor.name}: ${error.message}`,
      )
    const paths = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => statSync(join(folder, path)).isFile())
        .sort()
    const bytesAt = (path: string) => readFileSync(join(folder, path))
    const audit = (place: string) => {
      const keys = [logNoteKey(w.deps, w.deps.logs.current.origin)]
      return auditFiles({ read: openFiles(place), keys, papers: [] }, undefined)
    }

    test('are those that the service serves, and nothing else', async () => {
      const done = await exported()
      expect(done).toEqual({ origin: w.deps.settings.issuer, size: 301, written: 5 })
      expect(paths()).toEqual([
        ...['checkpoint', 'tile/0/000', 'tile/0/001.p/45', 'tile/1/000.p/1'],
        ...['tile/entries/000', 'tile/entries/001.p/45'],
      ])
      for (const path of paths()) {
        const answer = await w.call(`/log/${path}`)
        expect([path, Buffer.from(await answer.arrayBuffer())]).toEqual([path, bytesAt(path)])
      }
    })

    test('hold before an auditor who has only the folder, or a web server before it', async () => {
      expect(await audit(folder)).toMatchObject({ holds: true, size: '301' })
      const server = Bun.serve({
        port: 0,
        fetch: async ({ url }) => {
          const file = Bun.file(join(folder, new URL(url).pathname.slice('/log'.length)))
          return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
        },
      })
      try {
        const report = await audit(`http://127.0.0.1:${server.port}/log/`)
        expect([report.holds, report.size]).toEqual([true, '301'])
      } finally {
        await server.stop(true)
      }
    })

    test('are written once: another export adds what is new, and drops narrow tiles that grew', async () => {
      expect((await exported())?.written).toBe(0)
      const before = statSync(join(folder, 'tile/0/000'))
      await grow(300)
      expect(await exported()).toMatchObject({ size: 601, written: 5 })
      const after = statSync(join(folder, 'tile/0/000'))
      expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs])
      expect(paths()).toEqual([
        ...['checkpoint', 'tile/0/000', 'tile/0/001', 'tile/0/002.p/89'],
        // The narrow tile of the head before, whose readers may still come.
        ...['tile/1/000.p/1', 'tile/1/000.p/2'],
        ...['tile/entries/000', 'tile/entries/001', 'tile/entries/002.p/89'],
      ])
      expect((await audit(folder)).holds).toBe(true)
    })

    promise`H18 H: An exported log is never published before all its files were read under its
      signed head.`
    test('go on where an export was killed: the checkpoint is the last thing that moves', async () => {
      await grow(300)
      let left = 3
      const dies: LogFolder = {
        ...files,
        write: (path, bytes) => {
          if (left-- === 0) throw new Error('killed')
          files.write(path, bytes)
        },
      }
      const old = bytesAt('checkpoint')
      expect(await refused(dies)).toBe('Error: killed')
      expect(bytesAt('checkpoint')).toEqual(old)
      expect((await audit(folder)).holds).toBe(true)
      const done = await exported()
      expect([done?.size, done?.written]).toEqual([901, 5 - 3])
      expect(paths().filter((path) => path.endsWith('.new'))).toEqual([])
    })

    promise`H18`
    test('are read again before the end: a damaged one is named, with what to do', async () => {
      const path = join(folder, 'tile/0/001')
      const good = readFileSync(path)
      const bad = Uint8Array.from(good)
      bad[32 * 9] = (bad[32 * 9] ?? 0) ^ 1
      writeFileSync(path, bad)
      const old = bytesAt('checkpoint')
      await grow(1)
      expect(await refused()).toBe(
        'ExportRefusal: tile/0/001: hash 9, of leaf 265, is not that of entry 9 in ' +
          'tile/entries/001. Delete this file and export again; if it comes back, run ' +
          'counterfoil doctor.',
      )
      expect(bytesAt('checkpoint')).toEqual(old)
      rmSync(path)
      expect((await exported())?.size).toBe(902)
      expect(readFileSync(path)).toEqual(good)
    })

    promise`H18`
    test('are refused to a folder of another log, of a longer one, or of none', async () => {
      const note = bytesAt('checkpoint').toString()
      const { size } = parseHead(parseNote(note)?.text ?? '') ?? {}
      const refusedAfter = async (text: string) => {
        writeFileSync(join(folder, 'checkpoint'), text)
        return refused()
      }
      const origin = w.deps.settings.issuer
      expect(await refusedAfter(note.replaceAll(origin, 'https://other.example'))).toContain(
        `has the log of https://other.example, not of ${origin}`,
      )
      expect(await refusedAfter(note.replace(`\n${size}\n`, '\n5000\n'))).toContain(
        'a signed head of 5000 leaves, the database of 902: it may be an old copy',
      )
      expect(await refusedAfter(note.replace(`\n${size}\n`, '\n600\n'))).toContain(
        'does not continue the 600 leaves that the folder has signed',
      )
      expect(await refusedAfter('hello')).toContain('checkpoint is not a signed note')
      writeFileSync(join(folder, 'checkpoint'), note)
      expect((await exported())?.written).toBe(0)
    })
  })
}

test('a log without a signed head is not exported', async () => {
  const w = await world()
  try {
    const files = logFolder('/nowhere', 'new')
    expect(await exportLog(w.deps, w.deps.logs.current, files)).toBeUndefined()
  } finally {
    await w.stop()
  }
})
