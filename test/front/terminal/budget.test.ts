import { describe, expect, test } from 'bun:test'
import { sponsorAccount } from '../../../src/access/accounts/account.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import { dropAllowances } from '../../../src/front/terminal/allowance.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { allRuns, expectSettled } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, type World, world } from '../../support/world.ts'
import { believed, midnight, noon, pricedToml, refusal, run, send } from './support.ts'

/** What an ask of the stub costs: 7 tokens in and 5 out. */
const cost = 17_000n
const dayMs = 86_400_000

const spent = async (w: World): Promise<bigint> =>
  (await allRuns(w)).reduce((sum, row) => sum + row.cost, 0n)

const grants = (w: World) =>
  w.db.read(function* (q) {
    const all = yield* rows(q.select().from(w.db.tables.transfers))
    return all.filter((row) => row.accountId === sponsorAccount && row.kind === 'grant')
  })

/** More than the budget pays for, which is 117; PGlite takes its time, and there it is fewer. */
const clients = nightly(250, 1000)
const swarms = engines.map((engine) => [engine, engine === 'pglite' ? 100 : clients] as const)

describe.each(swarms)('the budget of a day, on %s, with %i clients', (engine, clients) => {
  promise`J4 C: The terminal is free in small amounts only, and never beyond the budget of its day.`
  test('they do not get past it; then 503 until midnight, and the next day goes on', async () => {
    const budget = 2_000_000n
    const stub = await startStubUpstream()
    const w = await world({
      engine,
      toml: believed + pricedToml(stub.url, Number(budget)),
      now: noon,
    })
    const statuses = new Map<number, number>()
    const addresses = Array.from({ length: clients }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
    const ask = async () => {
      for (let from = addresses.pop(); from !== undefined; from = addresses.pop()) {
        const { status } = await send(w, { command: 'ask Hello' }, from)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: 8 }, ask))
    // The last that is left may have been held by others when it was asked for.
    let again = 0
    while ((await send(w, { command: 'ask Hello' }, `192.0.2.${again + 2}`)).status === 200) again++
    const total = await spent(w)
    expect(total).toBeLessThanOrEqual(budget)
    expect(total).toBeGreaterThan(0n)
    expect((statuses.get(200) ?? 0) + again).toBe(Number(total / cost))
    expect([...statuses.keys()].sort()).toEqual([200, 503])
    await expectSettled(w)

    const over = await refusal(w, { command: 'ask Hello' }, '192.0.2.1')
    expect([over.status, over.error.type]).toEqual([503, 'unavailable'])
    expect(over.error.metadata).toEqual({ resets_at: midnight })
    expect(over.retryAfter).toBe('43200')
    // Neither what the sponsor has nor what it lacks.
    expect(JSON.stringify(over.error)).not.toMatch(/nusd|\$|balance/)
    expect((await run(w, 'help', '192.0.2.1')).allowance.remaining).toBe(10)
    const free = { input: 'x', model: 'counterfoil/echo-1' }
    expect((await send(w, free, '192.0.2.1')).status).toBe(200)

    w.advance(dayMs)
    expect((await send(w, { command: 'ask Hello' }, '192.0.2.1')).status).toBe(200)
    const given = await grants(w)
    expect(given.map(({ source, amount }) => [source, amount])).toEqual([
      ['terminal', budget],
      ['terminal', total],
    ])
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  }, 120_000)
})

test('without a budget no model that costs is asked, and the built-in ones are free', async () => {
  const stub = await startStubUpstream()
  const w = await world({ toml: pricedToml(stub.url, 0) })
  const { status, error } = await refusal(w, { input: 'x', model: 'stub/normal' })
  expect([status, error.type]).toEqual([403, 'model_not_allowed'])
  expect((await run(w, 'ask x')).data).toMatchObject({ model: 'counterfoil/echo-1', cost_nusd: 0 })
  expect(await grants(w)).toEqual([])
  await w.stop()
  await stub.stop()
})

test('a budget that an operator changes holds from the next ask on', async () => {
  const stub = await startStubUpstream()
  const w = await world({ toml: pricedToml(stub.url, 2_000_000), now: noon })
  await run(w, 'ask x')
  const { terminal } = w.deps.settings
  terminal.dailyBudgetNusd = 10_000n
  expect((await refusal(w, { command: 'ask x' })).status).toBe(503)
  terminal.dailyBudgetNusd = 3_000_000n
  await run(w, 'ask x')
  expect((await grants(w)).map(({ amount }) => amount)).toEqual([2_000_000n, 1_017_000n])
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

test('a key of the house that was revoked is made anew, and has no more money than before', async () => {
  const stub = await startStubUpstream()
  const w = await world({ toml: pricedToml(stub.url, 700_000), now: noon })
  await run(w, 'ask x')
  const keyId = (await w.deps.console.keyOf({ account: sponsorAccount })) ?? ''
  await revokeKey(w.deps, { keyId, actor: 'operator' })
  let asked = 1
  while ((await send(w, { command: 'ask x' })).status === 200) asked++
  expect(asked).toBeGreaterThan(1)
  expect(await spent(w)).toBeLessThanOrEqual(700_000n)
  expect(await grants(w)).toHaveLength(1)
  await w.stop()
  await stub.stop()
})

test('what clients used is forgotten when its day is over', async () => {
  const w = await world({ toml: believed, now: noon })
  const kept = async () =>
    (await w.db.read((q) => rows(q.select().from(w.db.tables.terminalAllowances)))).length
  await run(w, 'ask x', '192.0.2.1')
  w.advance(dayMs)
  await run(w, 'ask x', '192.0.2.2')
  await dropAllowances(w.deps)
  expect(await kept()).toBe(2)
  w.advance(dayMs)
  await dropAllowances(w.deps)
  expect(await kept()).toBe(1)
  await w.stop()
})

test('a day that begins with the whole budget is not filled again after its first ask', async () => {
  const stub = await startStubUpstream()
  const w = await world({ toml: believed + pricedToml(stub.url, 2_000_000), now: noon })
  const ask = async (json: unknown, from: string) =>
    expect((await send(w, json, from)).status).toBe(200)
  await ask({ input: 'x', model: 'counterfoil/echo-1' }, '10.0.0.1')
  w.advance(dayMs)
  for (const from of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) await ask({ command: 'ask Hello' }, from)
  expect((await grants(w)).map(({ amount }) => amount)).toEqual([2_000_000n])
  expect(await spent(w)).toBe(3n * cost)
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})
