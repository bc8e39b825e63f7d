import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endedRun } from '../../../bench/ended-run.ts'
import { insertEnded, numberEnded } from '../../../bench/stored-runs.ts'
import { signCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { exportLog } from '../../../src/proof/log/export-log.ts'
import { logFolder } from '../../../src/proof/log/store/log-folder.ts'
import { witnessClient } from '../../../src/proof/log/witness-client.ts'
import { isNightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { lastRun, pricedBuiltins } from '../../support/runs.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { logVkey, startWitness, type WitnessProcess } from './process.ts'

setDefaultTimeout(300_000)

/** Debian's packages of golang.org/x/mod, which hold the log of Go's own checksum database. */
const goPath = '/usr/share/gocode'
const hasGo =
  Bun.which('go') !== null && existsSync(join(goPath, 'src/golang.org/x/mod/sumdb/tlog'))
if (isNightly && !hasGo) {
  console.warn('left out: a log read by Go: apt-get install golang-go golang-golang-x-mod-dev')
}

const origin = 'https://log.example'

describe.skipIf(!isNightly || !hasGo)('an exported log, read by a program that is not ours', () => {
  let folder = ''
  let log = ''
  let reader = ''
  let witnesses: WitnessProcess[] = []
  let w: World

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-reader-'))
    log = join(folder, 'log')
    reader = join(folder, 'reader')
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: goPath, GOFLAGS: '' }
    const cwd = join(import.meta.dir, 'reader')
    const build = Bun.spawnSync(['go', 'build', '-o', reader, '.'], { cwd, env })
    expect(build.stderr.toString()).toBe('')
    const watched: [string, string][] = [[origin, logVkey(origin)]]
    witnesses = [await startWitness(watched, 'a.example/1'), await startWitness(watched)]
    const listed = witnesses.map(
      ({ url, vkey }, i) => `[[witnesses]]\nurl = "${url}"\nname = "W${i}"\nkey = "${vkey}"\n`,
    )
    const policy = '[witness_policy]\nrequired = 2\n'
    const toml = `base_url = "${origin}"\n${policy}${listed.join('')}${pricedBuiltins}`
    w = await world({ toml })
    const { secret } = await w.key({ balance: 10n * usd })
    await w.call('/v1/runs', {
      key: secret,
      json: { model: 'counterfoil/echo-1', input: 'hello' },
    })
    const { keyId } = await lastRun(w)
    const runs = Array.from({ length: 600 }, (_, index) => {
      const id = w.deps.ids.make('run')
      const about = { id, issuer: origin, account: testAccount, keyId, finishedAt: 1, index }
      return { ...endedRun(about), digest: new Uint8Array(32).fill(index) }
    })
    await w.db.write(() => insertEnded(w.db, runs))
    await numberEnded(w.db, w.deps.logStore)
    await signCheckpoint(w.deps)
    await witnessClient(w.deps)(new AbortController().signal)
    await exportLog(w.deps, w.deps.logs.current, logFolder(log, 'new'))
  })
  afterAll(async () => {
    await w?.stop()
    for (const witness of witnesses) await witness.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const read = (...keys: string[]) => {
    const { exitCode, stdout } = Bun.spawnSync([reader, log, ...keys])
    return { exitCode, said: stdout.toString().trim() }
  }
  const keys = () => [logVkey(origin), ...witnesses.map(({ vkey }) => vkey)]

  promise`H16`
  test('has a checkpoint of three signatures, and every entry under its root', () => {
    expect(read(...keys())).toEqual({
      exitCode: 0,
      said: `${origin}: 602 entries, 3 signatures`,
    })
  })

  test('is refused by it under another key, or with any file changed', () => {
    expect(read(logVkey('https://other.example')).exitCode).toBe(1)
    for (const path of ['checkpoint', 'tile/0/001', 'tile/entries/002.p/90', 'tile/1/000.p/2']) {
      const file = join(log, path)
      const good = readFileSync(file)
      const bad = Uint8Array.from(good)
      // In the root of the checkpoint, and the first hash or digest elsewhere.
      const at = path === 'checkpoint' ? origin.length + 8 : 5
      bad[at] = (bad[at] ?? 0) ^ 1
      writeFileSync(file, bad)
      expect([path, read(...keys()).exitCode]).toEqual([path, 1])
      writeFileSync(file, good)
    }
    expect(read(...keys()).exitCode).toBe(0)
  })
})
