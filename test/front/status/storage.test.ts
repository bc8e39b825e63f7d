import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { fault, promise } from '../../support/promise.ts'
import { expectSettled, moneyOf } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'

let w: World
let secret: string
let raw: Database

beforeEach(async () => {
  w = await world()
  raw = (w.db as typeof w.db & { raw: Database }).raw
  secret = (await w.key({ balance: usd })).secret
})
afterEach(() => w.stop())

const ask = () => {
  const messages = [{ role: 'user', content: 'hi '.repeat(2000) }]
  const json = { model: 'counterfoil/echo-1', messages }
  return w.call('/v1/chat/completions', { key: secret, json })
}

/** What programs and supervisors are told while nothing can be stored. */
async function expectTrouble(reason: string) {
  const answer = await ask()
  const { error } = await answer.json()
  expect([answer.status, error.type, error.metadata]).toEqual([503, 'unavailable', { reason }])
  expect(error.message).toContain('Nothing was stored or charged.')
  const ready = await w.call('/readyz')
  expect([ready.status, (await ready.json()).error.metadata]).toEqual([503, { reason }])
  expect((await w.call('/livez')).status).toBe(200)
  const status = await (await w.call('/v1/status')).json()
  expect([status.status, status.database.status]).toEqual(['degraded', 'read_only'])
  // Reads go on.
  expect(await moneyOf(w, secret)).toMatchObject({ balance_nusd: Number(usd), held_nusd: 0 })
}

const eventsLogged = () => w.logged.map(({ event }) => event).filter((it) => /^storage/.test(it))

describe('a full disk', () => {
  promise`K5`
  test('is a 503 that says so; reads go on; it is over by itself, and told once', async () => {
    const { page_count } = raw.query('PRAGMA page_count').get() as { page_count: bigint }
    raw.run(`PRAGMA max_page_count = ${page_count}`)
    // What fits into the pages there are is stored.
    while ((await ask()).status === 200);
    const { balance_nusd, held_nusd } = await moneyOf(w, secret)
    expect([balance_nusd, held_nusd]).toEqual([Number(usd), 0])
    await expectTrouble('storage_full')
    expect((await (await ask()).json()).error.message).toContain('full')
    raw.run('PRAGMA max_page_count = 4294967294')
    expect((await ask()).status).toBe(200)
    expect((await w.call('/readyz')).status).toBe(200)
    expect(eventsLogged()).toEqual(['storage.failed', 'storage.recovered'])
    await w.deps.live.settleAgain()
    await expectSettled(w)
  })
})

describe('a database that was deleted under the server', () => {
  fault`17`
  test('is found out, takes no write any more, and is not made again', async () => {
    const { file } = raw.query('PRAGMA database_list').get() as { file: string }
    expect((await ask()).status).toBe(200)
    w.db.storage?.look()
    rmSync(file)
    w.db.storage?.look()
    await expectTrouble('storage_moved')
    expect(() => readFileSync(file)).toThrow('ENOENT')
    expect(w.logged.find(({ event }) => event === 'storage.failed')?.fields).toMatchObject({
      reason: 'storage_moved',
      advice: expect.stringContaining('counterfoil doctor'),
    })
    expect(eventsLogged()).toEqual(['storage.failed'])
  })
})
