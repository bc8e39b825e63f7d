import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { makePlans } from '../../../src/access/plan-config.ts'
import { accountListedSince, listedSince } from '../../../src/access/plan-history.ts'
import { readAccountPlan } from '../../../src/billing/plans/account-plan.ts'
import { cancelPlan } from '../../../src/billing/plans/cancel.ts'
import { quoteOf } from '../../../src/billing/plans/quote.ts'
import { planRenewer, renew } from '../../../src/billing/plans/renew.ts'
import { resumePlan } from '../../../src/billing/plans/resume.ts'
import type { DueRenewal } from '../../../src/billing/plans/store.ts'
import { subscribe } from '../../../src/billing/plans/subscribe.ts'
import { onceOf } from '../../../src/ledger/once.ts'
import type { SubscriptionRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { soldPlans, soldPlansToml } from '../../support/plans.ts'
import { outcomeOf, rejectionOf } from '../../support/rejection.ts'
import { usd, type World, world } from '../../support/world.ts'
import { type Payer, payer } from './payer.ts'

setDefaultTimeout(60_000)

const start = Date.UTC(2026, 0, 31, 10)
const day = 86_400_000
const toml = `[[plans]]
id = "once"
price_nusd = 30_000_000_000
period = "none"
[[plans]]
id = "gift"
price_nusd = 0
`

let w: World
beforeAll(async () => {
  w = await world({ toml: toml + soldPlansToml, now: start })
})
afterAll(() => w.stop())

/** What the audit says of the plan of an account, the first first. */
const notesOf = async ({ account }: Payer) => {
  const { auditEntries } = w.db.tables
  const all = await w.db.read((q) =>
    rows(q.select().from(auditEntries).orderBy(asc(auditEntries.id))),
  )
  const own = all.filter((one) => one.accountId === account && one.action.startsWith('plan.'))
  return own.map(({ actor, action, detail }) => [actor === account ? 'own' : actor, action, detail])
}
const dueOf = async (own: Payer) => (await own.current()) as DueRenewal
/** What a command makes the keys of this account forget. */
const forgetful = () => {
  const forgotten: string[] = []
  const keys = { ...w.deps.keys, forgetAccount: (id: string) => void forgotten.push(id) }
  return { forgotten, deps: { ...w.deps, keys } }
}
const isoEnd = async (own: Payer) => new Date((await own.current()).periodEnd ?? 0).toISOString()

describe('a renewal', () => {
  test('of just as much money as there is is paid, and said in the audit', async () => {
    const own = await payer(w, 40)
    await own.subscribe('builder')
    const paidUntil = await isoEnd(own)
    w.advance(32 * day)
    const { forgotten, deps } = forgetful()
    await renew(deps, await dueOf(own))
    expect(await own.row()).toMatchObject({ plan: 'builder', balance: 0n })
    const price = { price_nusd: String(20n * usd) }
    const [bought, renewed] = await notesOf(own)
    expect(bought).toEqual([
      'own',
      'plan.subscribe',
      { plan: 'builder', charge_nusd: String(20n * usd), credit_nusd: '0', period_end: paidUntil },
    ])
    const end = await isoEnd(own)
    expect(renewed).toEqual([
      'server',
      'plan.renew',
      { plan: 'builder', next: 'builder', ...price, period_end: end },
    ])
    expect([forgotten, end > paidUntil]).toEqual([[own.account], true])
  })

  test('without money, or of what was cancelled, is said as what it was', async () => {
    const free = { plan: 'builder', next: 'free', price_nusd: '0', period_end: null }
    const poor = await payer(w, 39)
    await poor.subscribe('builder')
    const leaving = await payer(w, 100)
    await leaving.subscribe('builder')
    await leaving.cancel()
    w.advance(32 * day)
    for (const own of [poor, leaving]) await renew(w.deps, await dueOf(own))
    expect((await notesOf(poor)).at(-1)).toEqual(['server', 'plan.lapse', free])
    expect((await notesOf(leaving)).at(-1)).toEqual(['server', 'plan.end', free])
  })

  test('before the end of the period does nothing, nor of what has no end', async () => {
    const own = await payer(w, 100)
    await own.subscribe('builder')
    await renew(w.deps, await dueOf(own))
    expect(await own.paid()).toEqual([20n * usd])
    const other = await payer(w, 100)
    await other.subscribe('once')
    await renew(w.deps, await dueOf(other))
    expect(await other.paid()).toEqual([30n * usd])
    expect(await other.current()).toMatchObject({ plan: 'once', status: 'active', periodEnd: null })
  })

  test('A period that another node renewed meanwhile is left to the next look.', async () => {
    const own = await payer(w, 100)
    await own.subscribe('builder')
    w.advance(32 * day)
    const stale = await dueOf(own)
    await renew(w.deps, stale)
    w.advance(32 * day)
    await renew(w.deps, stale)
    expect(await own.paid()).toHaveLength(2)
    await renew(w.deps, { ...(await dueOf(own)), id: 'sub_another' })
    expect(await own.paid()).toHaveLength(2)
  })

  test('is done by the holder of the lease, and by no one else', async () => {
    const own = await payer(w, 100)
    await own.subscribe('builder')
    w.advance(32 * day)
    const subscriptions = { ...w.deps.subscriptions, takeLease: async () => undefined }
    await planRenewer({ ...w.deps, subscriptions })()
    expect(await own.paid()).toHaveLength(1)
    await planRenewer(w.deps)()
    expect(await own.paid()).toHaveLength(2)
  })
})

describe('what an account asks for', () => {
  test('is noted once, however often it is asked', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('scale')
    for (const ask of [own.cancel, own.resume, () => own.subscribe('builder'), own.resume]) {
      // Lines of the audit stand in the order of their moments.
      w.advance(1)
      await ask()
      await ask()
    }
    w.advance(1)
    await own.subscribe('free')
    await own.subscribe('free')
    w.advance(1)
    await own.subscribe('scale')
    expect((await notesOf(own)).slice(1)).toEqual([
      ['own', 'plan.cancel', { plan: 'scale' }],
      ['own', 'plan.resume', { plan: 'scale' }],
      ['own', 'plan.later', { plan: 'scale', next: 'builder' }],
      ['own', 'plan.resume', { plan: 'scale' }],
      ['own', 'plan.cancel', { plan: 'scale', next: 'free' }],
      ['own', 'plan.keep', { plan: 'scale', next: 'scale' }],
    ])
    expect(await own.paid()).toEqual([200n * usd])
  })

  test('is known to its keys at once', async () => {
    const { account, plan } = await payer(w, 1000)
    const { forgotten, deps } = forgetful()
    await subscribe(deps, { account, plan: plan('builder') })
    await cancelPlan(deps, account)
    await resumePlan(deps, account)
    expect(forgotten).toEqual([account, account, account])
  })

  test('of the free plan is nothing, where it has that', async () => {
    const own = await payer(w, 1)
    const { quote, stands } = await own.subscribe('free')
    expect([quote.change, stands.current, await own.all(), await notesOf(own)]).toEqual([
      'keep',
      undefined,
      [],
      [],
    ])
  })

  test('paid once ends when it is cancelled; what costs nothing moves nothing', async () => {
    const own = await payer(w, 100)
    await own.subscribe('once')
    expect((await notesOf(own))[0]?.[2]).toMatchObject({ plan: 'once', period_end: null })
    await own.cancel()
    expect(await own.all()).toMatchObject([{ plan: 'once', status: 'ended' }])
    expect(await own.row()).toMatchObject({ plan: 'free', planUntil: null, balance: 70n * usd })
    await own.subscribe('gift')
    expect([await own.paid(), (await own.row()).plan]).toEqual([[30n * usd], 'gift'])
  })

  test('with an Idempotency-Key is done once, and with it nothing else', async () => {
    const { account, plan, paid } = await payer(w, 1000)
    const ask = (id: string, fingerprint: string) => {
      const call = { scope: `call of ${account}`, fingerprint }
      const reply = () => ({ status: 200, headers: {}, body: '{}' })
      const once = onceOf<{ account: unknown }>(w.deps, call, reply)
      return subscribe(w.deps, { account, plan: plan(id), once })
    }
    await ask('builder', 'a')
    const again = expect.objectContaining({ type: 'idempotency_in_progress' })
    expect(await rejectionOf(ask('builder', 'a'))).toEqual(again)
    const other = expect.objectContaining({ type: 'idempotency_mismatch' })
    expect(await rejectionOf(ask('scale', 'b'))).toEqual(other)
    expect(await paid()).toEqual([20n * usd])
  })
})

describe('a quote', () => {
  const plans = makePlans([{ id: 'twin', price_nusd: 20n * usd, limits: {} }, ...soldPlans], {
    rpm: 1,
    concurrency: 1,
  })
  const planOf = (id: string) => plans.find(id) ?? expect.unreachable()
  const has = (more: Partial<SubscriptionRow>): SubscriptionRow => ({
    ...{ id: 'sub', accountId: 'a', plan: 'builder', status: 'active', price: 20n * usd },
    ...{ startedAt: 0, periodStart: 0, periodEnd: 100, nextPlan: null, endedAt: null, ...more },
  })
  test.each([
    ['nothing, scale', undefined, 'scale', 50, 'now', 200n * usd, 50],
    ['nothing, free', undefined, 'free', 50, 'keep', 0n, 50],
    ['a month, the same price', has({}), 'twin', 50, 'later', 0n, 100],
    ['a month, free', has({}), 'free', 50, 'cancel', 0n, 100],
    ['a month, dearer', has({}), 'scale', 50, 'now', 190n * usd, 50],
    [
      'a month that is just over, cheaper',
      has({ price: 200n * usd }),
      'twin',
      100,
      'now',
      20n * usd,
      100,
    ],
    ['a month that is just over, free', has({}), 'free', 100, 'cancel', 0n, 100],
    ['what is paid once, dearer', has({ periodEnd: null }), 'scale', 50, 'now', 200n * usd, 50],
    ['what is paid once, free', has({ periodEnd: null }), 'free', 50, 'cancel', 0n, 50],
    ['what is paid once, the same', has({ periodEnd: null }), 'twin', 50, 'now', 20n * usd, 50],
  ] as const)(
    'The quote for an account that has %s.',
    (_, current, id, at, change, charge, startsAt) => {
      expect(quoteOf(current, planOf(id), at)).toMatchObject({ change, charge, startsAt })
    },
  )

  test('lists plans of one price as they were written down, and prices hold from the start', () => {
    const twins = ['b', 'a'].map((id) => ({ id, price_nusd: 20n * usd, limits: {} }))
    const { list, since } = makePlans([...soldPlans, ...twins], { rpm: 1, concurrency: 1 })
    expect(list.map(({ id }) => id)).toEqual(['free', 'builder', 'b', 'a', 'scale'])
    expect(since).toBe(0)
  })

  test('of history goes back whole days, to the first moment at most', () => {
    const free = planOf('free')
    expect(listedSince(free, 100 * day)).toBe(70 * day)
    expect(listedSince(free, day)).toBe(0)
  })
})

test('an account that was never opened has no plan and no history', async () => {
  const what = 'a session without an account'
  expect(await outcomeOf(readAccountPlan(w.deps, '0xnone'))).toThrow(what)
  expect(await outcomeOf(accountListedSince(w.deps, '0xnone'))).toThrow(what)
})
