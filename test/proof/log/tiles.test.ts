import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { endedRun } from '../../../bench/ended-run.ts'
import { insertEnded, numberEnded } from '../../../bench/stored-runs.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { signCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { append, emptyFrontier, rootOf } from '../../../src/proof/log/tree.ts'
import { parseHead } from '../../../src/verify/checkpoint-note.ts'
import { entriesIn, tilePath } from '../../../src/verify/log-tiles.ts'
import { type LeafKind, leafHash } from '../../../src/verify/merkle.ts'
import { parseNote, parseVkey, verifyNote } from '../../../src/verify/signed-note.ts'
import { promise } from '../../support/promise.ts'
import { lastRun, pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(120_000)

for (const engine of engines) {
  describe(`the log as tiles, on ${engine}`, () => {
    let w: World
    let size = 0

    beforeAll(async () => {
      w = await world({ engine, toml: pricedBuiltins })
      const { secret } = await w.key({ balance: 10n * usd })
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      await w.call('/v1/runs', { key: secret, json })
      const { keyId } = await lastRun(w)
      const issuer = w.deps.settings.issuer
      const runs = Array.from({ length: 600 }, (_, index) => {
        const id = w.deps.ids.make('run')
        const digest = new Uint8Array(32).fill(index)
        const about = { id, issuer, account: testAccount, keyId, finishedAt: 1 + index, index }
        return { ...endedRun(about), digest }
      })
      await w.db.write(() => insertEnded(w.db, runs))
      await numberEnded(w.db, w.deps.logStore)
      size = (await signCheckpoint(w.deps))?.size ?? 0
    })
    afterAll(() => w.stop())

    const bytesAt = async (path: string) => {
      const answer = await w.call(`/log/${path}`)
      expect([path, answer.status]).toEqual([path, 200])
      return new Uint8Array(await answer.arrayBuffer())
    }

    test('a checkpoint is a note of the key that /v1/signer names', async () => {
      const answer = await w.call('/log/checkpoint')
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      const note = parseNote(await answer.text())
      const signer = await (await w.call('/v1/signer')).json()
      const key = parseVkey(signer.note_key)
      if (!note || !key) throw new Error('unreadable')
      expect(key.name).toBe(signer.log.origin)
      expect(verifyNote(note, [key]).signed.length).toBe(1)
      const { log } = await (await w.call('/v1/anchors')).json()
      const head = parseHead(note.text)
      expect(head?.origin).toBe(log.origin)
      expect(String(head?.size)).toBe(log.checkpoint.size)
      expect(toHex(head?.root ?? new Uint8Array())).toBe(log.checkpoint.root)
      const etag = answer.headers.get('etag') ?? ''
      const again = await w.call('/log/checkpoint', { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
    })

    promise`H14`
    test('entries hash to the tiles of level 0, and these to the level above and the root', async () => {
      const leaves: Uint8Array[] = []
      const entries: Uint8Array[] = []
      for (let index = 0; index * 256 < size; index++) {
        const width = Math.min(256, size - index * 256)
        const tile = await bytesAt(tilePath({ level: 0, index, width }))
        expect(tile.length).toBe(width * 32)
        for (let at = 0; at < tile.length; at += 32) leaves.push(tile.slice(at, at + 32))
        const bundle = await bytesAt(tilePath({ level: 'entries', index, width }))
        entries.push(...(entriesIn(bundle, width) ?? []))
      }
      expect(entries.length).toBe(size)
      const hashed = entries.map((entry) => leafHash(entry[0] as LeafKind, entry.slice(1)))
      expect(hashed.map(toHex)).toEqual(leaves.map(toHex))
      const kinds = new Set(entries.map((entry) => entry[0]))
      expect([...kinds].sort()).toEqual([0, 1])
      const { frontier } = append(
        emptyFrontier,
        entries.map((entry) => ({ kind: entry[0] as LeafKind, digest: entry.slice(1) })),
      )
      const note = parseNote(await (await w.call('/log/checkpoint')).text())
      expect(toHex(parseHead(note?.text ?? '')?.root ?? new Uint8Array())).toBe(
        toHex(rootOf(frontier)),
      )
      const above = await bytesAt('tile/1/000.p/2')
      const first = append(
        emptyFrontier,
        entries
          .slice(0, 256)
          .map((entry) => ({ kind: entry[0] as LeafKind, digest: entry.slice(1) })),
      )
      expect(toHex(above.slice(0, 32))).toBe(toHex(rootOf(first.frontier)))
    })

    test('a tile says that it never changes, and is not sent twice', async () => {
      for (const path of ['tile/0/000', 'tile/entries/001']) {
        const answer = await w.call(`/log/${path}`)
        expect(answer.headers.get('content-type')).toBe('application/octet-stream')
        expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        const etag = answer.headers.get('etag') ?? ''
        expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
        const again = await w.call(`/log/${path}`, { headers: { 'if-none-match': etag } })
        expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
        const head = await w.call(`/log/${path}`, { method: 'HEAD' })
        expect([head.status, head.headers.get('etag')]).toEqual([200, etag])
      }
    })

    test('a narrower tile is the beginning of the wider one', async () => {
      const wide = await bytesAt('tile/0/001')
      expect(await bytesAt('tile/0/001.p/7')).toEqual(wide.slice(0, 7 * 32))
    })

    test.each([
      'tile/0/002',
      'tile/0/002.p/255',
      'tile/0/003.p/1',
      'tile/0/001.p/0',
      'tile/0/001.p/256',
      'tile/0/001.p/007',
      'tile/0/1',
      'tile/0/x000/001',
      'tile/00/001',
      'tile/1/000',
      'tile/1/000.p/3',
      'tile/2/000.p/1',
      'tile/63/000.p/1',
      'tile/64/000.p/1',
      'tile/entries/002',
      'tile/entries/003.p/1',
      'tile/leaves/000',
      'tile/0/x999/x999/x999/x999/999',
      'tile',
      '2/checkpoint',
      '1/checkpoint',
      'checkpoint/',
      'other',
    ])('%s is not there: a 404 that no cache keeps', async (path) => {
      const answer = await w.call(`/log/${path}`)
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect((await answer.json()).error.type).toBe('not_found')
    })

    promise`H14 H: Tiles hold hashes and digests alone, and only below a signed head.`
    test('what no checkpoint covers yet is not served', async () => {
      const before = await w.call(`/log/tile/0/002.p/${size - 512}`)
      expect(before.status).toBe(200)
      const id = w.deps.ids.make('run')
      const issuer = w.deps.settings.issuer
      const about = { id, issuer, account: testAccount, keyId: 'key_x', finishedAt: 1, index: 0 }
      const run = { ...endedRun(about), digest: new Uint8Array(32).fill(9) }
      await w.db.write(() => insertEnded(w.db, [run]))
      await numberEnded(w.db, w.deps.logStore)
      const path = `/log/tile/0/002.p/${size + 1 - 512}`
      expect((await w.call(path)).status).toBe(404)
      await signCheckpoint(w.deps)
      expect((await w.call(path)).status).toBe(200)
    })

    test('a method that a tile does not take is refused with those it takes', async () => {
      const answer = await w.call('/log/checkpoint', { method: 'POST' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    })
  })
}

test('an empty log has a signed checkpoint of size 0, whose root is the hash of nothing', async () => {
  const w = await world()
  try {
    const note = parseNote(await (await w.call('/log/checkpoint')).text())
    expect(note?.text).toBe(
      `${w.deps.settings.issuer}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n`,
    )
    expect((await w.call('/log/tile/0/000.p/1')).status).toBe(404)
  } finally {
    await w.stop()
  }
})
