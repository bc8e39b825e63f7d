import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { rotateKey } from '../../src/access/keys/rotate.ts'
import { type Running, startServer } from '../../src/app/start.ts'
import { loadConfig } from '../../src/config/config.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { schemaSteps } from '../../src/storage/db/migrate.ts'
import { engines, freshDb, testPrivateKey } from '../support/world.ts'
import { direct } from './direct.ts'
import { migrateRest } from './older.ts'

setDefaultTimeout(60_000)

/** What programs of earlier schemas left behind: `scripts/older-fixture.ts` made them. */
const databases = engines.flatMap((engine) => [5, 7, 9].map((steps) => ({ engine, steps })))

type Told = {
  until: number
  account: string
  balance: number
  receipts: { receipt: { id: string; subject: { key: string } } }[]
  proofs: { size: string; index: string }[]
}

describe.each(databases)('a database of $steps steps on $engine', ({ engine, steps }) => {
  const base = `test/fixtures/databases/steps-${steps}${engine === 'sqlite' ? '' : '.pg'}`
  const told: Told = JSON.parse(readFileSync(`${base}.json`, 'utf8'))
  let fresh: Awaited<ReturnType<typeof freshDb>>
  let running: Running
  let origin = ''
  let secret = ''
  let migrated: string[] = []

  beforeAll(async () => {
    fresh = await freshDb(engine, true)
    const text = readFileSync(`${base}.sql`, 'utf8')
    if (engine === 'sqlite') (fresh.db as unknown as { raw: Database }).raw.run(text)
    // The drivers take one statement at a time; bodies of functions go over several lines.
    else for (const one of text.split(/;\n(?=[A-Z])/)) await direct(fresh.db, one)
    migrated = await migrateRest(fresh.db)
    const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
    const loaded = loadConfig({ ...inputs, fileText: 'base_url = "https://gw.example"' })
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
    const config = { ...loaded.config, listen: { hostname: '127.0.0.1', port: 0 } }
    const ignore = () => {}
    const log = { debug: ignore, info: ignore, warn: ignore, error: console.error }
    let now = told.until
    const clock = { now: () => now++, monotonic: () => performance.now() }
    const signer = signerFromHex(testPrivateKey)
    running = await startServer({ config, db: fresh.db, signer, log, clock })
    origin = `http://localhost:${running.deps.settings.listen.port}`
    // The secret of then was thrown away.
    const keyId = told.receipts[0]?.receipt.subject.key ?? ''
    secret = (await rotateKey(running.deps, { keyId, actor: 'test', overlapSeconds: 0 })).secret
  })
  afterAll(async () => {
    await running.stop(0)
    await fresh.drop()
  })

  const ask = async (path: string, json?: object) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const sent = json && { method: 'POST', body: JSON.stringify(json) }
    const answer = await fetch(origin + path, { headers, ...sent })
    return { status: answer.status, json: await answer.json(), headers: answer.headers }
  }
  const faults = () => auditStore(fresh.db).faults(running.deps.clock.now())
  const balance = async () => (await running.deps.accounts.find(told.account))?.balance

  test('takes the steps that are left, and money agrees with its journal', async () => {
    expect(migrated).toEqual(schemaSteps.slice(steps))
    expect(await faults()).toEqual([])
    expect(await balance()).toBe(BigInt(told.balance))
  })

  test('has its receipts as they were; they verify, by the same paths', async () => {
    expect(told.receipts.length).toBe(5)
    for (const [i, old] of told.receipts.entries()) {
      const { id } = old.receipt
      expect((await ask(`/v1/receipts/${id}`)).json).toMatchObject({ receipt: old.receipt })
      const { json } = await ask('/v1/receipts/verify', old)
      expect(json).toMatchObject({ valid: true, receipt_id: id })
      const { size } = told.proofs[i] ?? {}
      expect((await ask(`/v1/receipts/${id}/proof?size=${size}`)).json).toEqual(told.proofs[i])
    }
  })

  test('goes on: a run is paid, and logged behind the old ones', async () => {
    const messages = [{ role: 'user', content: 'after the upgrade' }]
    const { status, headers } = await ask('/v1/chat/completions', {
      ...{ model: 'counterfoil/echo-1', messages },
    })
    expect(status).toBe(200)
    await running.deps.sequencer.flush()
    const { json } = await ask(`/v1/receipts/${headers.get('x-receipt-id')}/proof`)
    const oldest = Math.max(...told.proofs.map(({ index }) => Number(index)))
    expect(Number(json.index)).toBeGreaterThan(oldest)
    expect(await faults()).toEqual([])
  })
})
