import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { version as current } from '../../../package.json'
import { countedRandom, makeFixture } from '../../../scripts/fixture.ts'
import { makeSecret } from '../../../src/access/keys/secret.ts'
import { openDatabase } from '../../../src/app/open-database.ts'
import { type RunningService, startServer } from '../../../src/app/start.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { testPrivateKey } from '../../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true }))

const kept = 'test/fixtures'
/** What releases left behind, one file each; `bun scripts/fixture.ts` makes that of the next. */
const releases = [...new Bun.Glob('databases/*.sql').scanSync(kept)].map((name) => {
  const base = join(kept, name.slice(0, -'.sql'.length))
  return { of: basename(base), base }
})
const thisBuild = { of: 'this build', base: join(folder, 'left') }
const databases = [...releases, thisBuild]
beforeAll(() => makeFixture(thisBuild.base), 60_000)

type Told = {
  until: number
  account: string
  balance: string
  statuses: number[]
  receipts: { receipt: { id: string } }[]
  proofs: { size: string }[]
}

test('Every release before this one left a database behind, small enough to keep.', () => {
  const changes = readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[(\d[^\]]*)\]/gm)
  const before = [...changes].map(([, version]) => version).filter((one) => one !== current)
  expect(releases.map(({ of }) => of)).toEqual(expect.arrayContaining(before))
  for (const { base } of databases) {
    expect(readFileSync(`${base}.sql`).length).toBeLessThan(200_000)
  }
})

describe.each(databases)('a database of $of', ({ of, base }) => {
  const data = join(folder, of)
  let told: Told
  const secret = makeSecret(countedRandom('counterfoil fixture key'))
  let running: RunningService
  let db: Awaited<ReturnType<typeof openDatabase>>['db']
  let origin: string

  beforeAll(async () => {
    told = JSON.parse(readFileSync(`${base}.json`, 'utf8'))
    mkdirSync(data)
    const raw = new Database(join(data, 'counterfoil.db'))
    raw.run(readFileSync(`${base}.sql`, 'utf8'))
    raw.close()
    const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
    const loaded = loadConfig({
      ...inputs,
      fileText: `base_url = "https://gw.example"\ndata = "${data}"`,
    })
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
    const config = { ...loaded.config, listen: { hostname: '127.0.0.1', port: 0 } }
    const ignore = () => {}
    const log = { debug: ignore, info: ignore, warn: ignore, error: console.error }
    const opened = await openDatabase(config, { mayCreate: true })
    // A copy from before is kept exactly where something was done.
    const copies = readdirSync(data).filter((name) => name.includes('.before-'))
    expect(copies.length > 0).toBe(opened.migrated.length > 0)
    db = opened.db
    let now = told.until
    const clock = { now: () => now++, monotonic: () => performance.now() }
    const signer = signerFromHex(testPrivateKey)
    running = await startServer({ config, db, signer, log, clock })
    origin = `http://localhost:${running.deps.settings.listen.port}`
  }, 60_000)
  afterAll(() => running.stop(0))

  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${secret}` }
    return (await fetch(origin + path, { headers })).json()
  }
  const post = (path: string, json: object) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    })
  const faults = () => auditStore(db).faults(running.deps.clock.now())

  test('is opened, and money agrees with its journal', async () => {
    expect(running.deps.health.ledger).not.toBe('unbalanced')
    expect(await faults()).toEqual([])
    expect(String((await running.deps.accounts.find(told.account))?.balance)).toBe(told.balance)
  })

  test('its receipts are what they were, and verify', async () => {
    expect(told.receipts.length).toBeGreaterThan(0)
    for (const old of told.receipts) {
      expect(await get(`/v1/receipts/${old.receipt.id}`)).toMatchObject({ receipt: old.receipt })
      const verdict = await (await post('/v1/receipts/verify', old)).json()
      expect(verdict).toMatchObject({ valid: true, receipt_id: old.receipt.id })
    }
  })

  test('its log goes on: what was proven is proven still, by the same path', async () => {
    for (const [i, proof] of told.proofs.entries()) {
      const { id = '' } = told.receipts[i]?.receipt ?? {}
      expect(await get(`/v1/receipts/${id}/proof?size=${proof.size}`)).toEqual(proof)
    }
  })

  test('its keys work, runs are paid and logged behind the old ones', async () => {
    const messages = [{ role: 'user', content: 'after the upgrade' }]
    const answer = await post('/v1/chat/completions', { model: 'counterfoil/echo-1', messages })
    expect(answer.status).toBe(200)
    const id = answer.headers.get('x-receipt-id') ?? ''
    await running.deps.sequencer.flush()
    const proof = await get(`/v1/receipts/${id}/proof`)
    const oldest = Math.max(...told.proofs.map(({ size }) => Number(size)))
    expect(Number(proof.index)).toBeGreaterThanOrEqual(oldest)
    const verdict = await (
      await post('/v1/receipts/verify', await get(`/v1/receipts/${id}`))
    ).json()
    expect(verdict.valid).toBe(true)
    expect(await faults()).toEqual([])
  })
})
