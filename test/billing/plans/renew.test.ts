import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { planRenewer, renew } from '../../../src/billing/plans/renew.ts'
import { openLedger } from '../../../src/ledger/post.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { payer } from './payer.ts'

const day = 86_400_000

describe.each(engines)('a renewal on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: Date.UTC(2026, 0, 31, 10), toml: soldPlansToml })
  }, 60_000)
  afterAll(async () => {
    expect(await auditStore(w.db).whole(w.deps.clock.now())).toEqual([])
    await w.stop()
  })
  const goTo = (at: number) => w.advance(at - w.deps.clock.now())

  test('goes from the 31st to the last of February and to the 31st again', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('builder')
    const ends = [Date.UTC(2026, 1, 28, 10), Date.UTC(2026, 2, 31, 10), Date.UTC(2026, 3, 30, 10)]
    for (const end of ends) {
      expect((await own.current()).periodEnd).toBe(end)
      goTo(end - 1)
      await own.renew()
      expect((await own.current()).periodEnd).toBe(end)
      goTo(end)
      await own.renew()
    }
    expect(await own.paid()).toEqual([20n, 20n, 20n, 20n].map((price) => price * usd))
    expect(await own.all()).toHaveLength(1)
  })

  test('twice is once: by one process, by two, and again later', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('builder')
    w.advance(32 * day)
    const due = (await w.deps.subscriptions.due(w.deps.clock.now(), undefined, 100)).filter(
      ({ accountId }) => accountId === own.account,
    )
    const [one] = due
    if (!one) throw new Error('nothing is due')
    // Another process on the same database, where one can be.
    const ledger = engine === 'sqlite' ? w.deps.ledger : openLedger(w.db, w.deps.clock)
    const both = [w.deps, { ...w.deps, ledger }]
    await Promise.all(Array.from({ length: 40 }, (_, i) => renew(both[i % 2] ?? w.deps, one)))
    await renew(w.deps, one)
    expect(await own.paid()).toEqual([20n * usd, 20n * usd])
    expect((await own.row()).balance).toBe(960n * usd)
  }, 20_000)

  test('without enough money lapses to the free plan; nothing is charged, nothing owed', async () => {
    const own = await payer(w, 39)
    await own.subscribe('builder')
    w.advance(32 * day)
    await own.renew()
    expect(await own.row()).toMatchObject({ balance: 19n * usd, plan: 'free', planUntil: null })
    expect(await own.all()).toMatchObject([{ status: 'lapsed', endedAt: w.deps.clock.now() }])
    await own.fund(100n * usd)
    await own.renew()
    expect((await own.row()).balance).toBe(119n * usd)
    await own.subscribe('builder')
    expect((await own.all()).map(({ status }) => status)).toEqual(['lapsed', 'active'])
  })

  test('ends what was cancelled, and begins what was to follow at its own price', async () => {
    const leaving = await payer(w, 100)
    await leaving.subscribe('builder')
    await leaving.cancel()
    const lower = await payer(w, 1000)
    await lower.subscribe('scale')
    await lower.subscribe('builder')
    w.advance(32 * day)
    await leaving.renew()
    await lower.renew()
    expect(await leaving.row()).toMatchObject({ plan: 'free', balance: 80n * usd })
    expect(await leaving.all()).toMatchObject([{ status: 'ended' }])
    expect(await lower.row()).toMatchObject({ plan: 'builder', balance: 780n * usd })
    expect(await lower.current()).toMatchObject({
      plan: 'builder',
      price: 20n * usd,
      nextPlan: null,
    })
  })

  test('charges one month, however many passed while no server ran', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('builder')
    const { startedAt } = await own.current()
    w.advance(200 * day)
    await own.renew()
    await own.renew()
    expect(await own.paid()).toHaveLength(2)
    const { periodStart, periodEnd } = await own.current()
    const now = w.deps.clock.now()
    expect(periodStart <= now && now < (periodEnd ?? 0)).toBe(true)
    expect(new Date(periodStart).getUTCHours()).toBe(new Date(startedAt).getUTCHours())
  })

  test('is done by the job for everybody who is due, each on its own', async () => {
    const all = await Promise.all(Array.from({ length: 7 }, (_, i) => payer(w, i < 5 ? 50 : 20)))
    await Promise.all(all.map((own) => own.subscribe('builder')))
    w.advance(32 * day)
    const broken = all[0]?.account
    const { ledger } = w.deps
    const post: typeof ledger.post = (command) =>
      command.account === broken ? Promise.reject(new Error('no disk')) : ledger.post(command)
    await planRenewer({ ...w.deps, ledger: { post } })()
    const counts = async () => Promise.all(all.map(async (own) => (await own.paid()).length))
    expect(await counts()).toEqual([1, 2, 2, 2, 2, 1, 1])
    expect(w.logged.at(-1)?.event).toBe('plan.renew_failed')
    await planRenewer(w.deps)()
    expect(await counts()).toEqual([2, 2, 2, 2, 2, 1, 1])
  })
})

test('a plan that is no longer offered ends instead of being paid', async () => {
  const toml = '[[plans]]\nid = "team"\nprice_nusd = 1_000\n'
  const w = await world({ toml, now: Date.UTC(2026, 5, 1) })
  try {
    const own = await payer(w, 1)
    await own.subscribe('team')
    w.advance(32 * day)
    const [due] = await w.deps.subscriptions.due(w.deps.clock.now(), undefined, 1)
    if (!due) throw new Error('nothing is due')
    const plans = { ...w.deps.plans, find: () => undefined }
    await renew({ ...w.deps, plans }, due)
    expect(await own.all()).toMatchObject([{ status: 'ended' }])
    expect(await own.paid()).toEqual([1000n])
  } finally {
    await w.stop()
  }
})
