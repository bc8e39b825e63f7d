import { describe, expect, test } from 'bun:test'
import { makePlans, planFaults } from '../../../src/access/plan-config.ts'
import { paysFrom } from '../../../src/billing/plans/plan-words.ts'
import { currentOf, quoteOf } from '../../../src/billing/plans/quote.ts'
import { costOf, type MeterLine } from '../../../src/models/meter.ts'
import type { SubscriptionRow } from '../../../src/storage/db/schema/schema.ts'
import { prng } from '../../ledger/prng.ts'
import { soldPlans } from '../../support/plans.ts'

const server = { rpm: 6000, concurrency: 1024 }
const wide = { rpm: 1_000_000, concurrency: 100_000 }
const usd = 1_000_000_000n

describe('the plans there are', () => {
  test('are the free one alone until the operator adds another', () => {
    expect(makePlans([], wide).list.map(({ id }) => id)).toEqual(['free'])
  })

  test('builder and scale have values of their own', () => {
    const plans = makePlans(soldPlans, wide)
    expect(plans.list.map(({ id, price, discountBps }) => [id, price, discountBps])).toEqual([
      ['free', 0n, 0],
      ['builder', 20n * usd, 500],
      ['scale', 200n * usd, 1000],
    ])
    expect(plans.list.map(({ limits }) => Object.values(limits))).toEqual([
      [6000, 1024, 50, 4, 30],
      [20_000, 2048, 200, 4, 365],
      [100_000, 8192, 500, 4, 1095],
    ])
  })

  test('merge with an entry of the same id, field by field, and gain the others', () => {
    const plans = makePlans(
      [
        { id: 'builder', discount_bps: 700, limits: { max_keys: 9 } },
        { id: 'scale', limits: {} },
        { id: 'team', price_nusd: 50n * usd, models: ['acme/*'], limits: {} },
      ],
      wide,
    )
    expect(plans.find('builder')).toMatchObject({
      name: 'Builder',
      price: 20n * usd,
      discountBps: 700,
      limits: { rpm: 20_000, maxKeys: 9 },
    })
    expect(plans.list.map(({ id }) => id)).toEqual(['free', 'builder', 'team', 'scale'])
    expect(plans.find('team')).toMatchObject({ name: 'team', period: 'month', models: ['acme/*'] })
  })

  test('stand the cheapest first, those of one price as the operator named them', () => {
    const priced = (id: string, price: bigint) => ({ id, price_nusd: price, limits: {} })
    const own = [...soldPlans, priced('z', 9n), priced('b', 9n), priced('a', 3n), priced('m', 9n)]
    expect(makePlans(own, wide).list.map(({ id }) => id)).toEqual([
      ...['free', 'a', 'z', 'b', 'm', 'builder', 'scale'],
    ])
  })

  test('allow no more than the server does', () => {
    const plans = makePlans(soldPlans, server)
    for (const { limits } of plans.list) expect(limits).toMatchObject(server)
  })

  test('are the free one for an account whose plan is over, or is no longer offered', () => {
    const plans = makePlans(soldPlans, server)
    expect(plans.of({ plan: 'scale', planUntil: null }, 5).id).toBe('scale')
    expect(plans.of({ plan: 'scale', planUntil: 6 }, 5).id).toBe('scale')
    expect(plans.of({ plan: 'scale', planUntil: 5 }, 5).id).toBe('free')
    expect(plans.of({ plan: 'gone', planUntil: null }, 5).id).toBe('free')
  })

  test('are refused with a free plan that costs, and with a new one without a price', () => {
    expect(planFaults([{ id: 'free', price_nusd: 1n, limits: {} }])).toEqual([
      '"free" is the plan of accounts that pay nothing; set its price_nusd to 0',
    ])
    expect(planFaults([{ id: 'free', period: 'month', limits: {} }])).toHaveLength(1)
    expect(planFaults([{ id: 'team', limits: {} }])).toEqual([
      '"team" needs price_nusd (0 if it is free)',
    ])
    expect(planFaults([{ id: 'builder', limits: {} }])).toEqual([])
  })
})

describe('where a plan pays off', () => {
  const [free, builder, scale] = makePlans(soldPlans, wide).list

  test('is the use at which its price less its discount is no more than that of the cheaper one', () => {
    if (!free || !builder || !scale) throw new Error('there are three plans')
    for (const [cheaper, dearer, from] of [
      [free, builder, 400n * usd],
      [builder, scale, 3600n * usd],
    ] as const) {
      expect(paysFrom(cheaper, dearer)).toBe(from)
      const costOn = (plan: typeof free, used: bigint) =>
        plan.price + used - (used * BigInt(plan.discountBps)) / 10_000n
      expect(costOn(dearer, from)).toBe(costOn(cheaper, from))
    }
  })

  test('is nowhere without a higher discount, and in whole cents', () => {
    if (!free || !builder) throw new Error('there are three plans')
    expect(paysFrom(builder, free)).toBeUndefined()
    expect(paysFrom(free, { ...builder, discountBps: 0 })).toBeUndefined()
    expect(paysFrom(free, { ...builder, price: 1n })).toBe(10_000_000n)
  })
})

describe('what a change of plan costs', () => {
  const plans = makePlans(
    [
      { id: 'team', price_nusd: 20n * usd, limits: {} },
      { id: 'once', price_nusd: 5n * usd, period: 'none', limits: {} },
      ...soldPlans,
    ],
    server,
  )
  const plan = (id: string) => plans.find(id) ?? plans.list[0] ?? expect.unreachable()
  const start = Date.UTC(2026, 10, 1)
  const end = Date.UTC(2026, 11, 1)
  const row = (id: string, more: Partial<SubscriptionRow> = {}): SubscriptionRow => ({
    id: 'sub_1',
    accountId: '0xa',
    plan: id,
    status: 'active',
    price: plan(id).price,
    startedAt: start,
    periodStart: start,
    periodEnd: end,
    nextPlan: null,
    endedAt: null,
    ...more,
  })
  const middle = Date.UTC(2026, 10, 16)

  const cases: [
    what: string,
    from: SubscriptionRow | undefined,
    to: string,
    change: string,
    charge: bigint,
  ][] = [
    ['a first plan, whole', undefined, 'builder', 'now', 20n * usd],
    ['up, less what is left', row('builder'), 'scale', 'now', 190n * usd],
    [
      'up from one that is cancelled',
      row('builder', { status: 'canceling' }),
      'scale',
      'now',
      190n * usd,
    ],
    ['down, later', row('scale'), 'builder', 'later', 0n],
    ['to one of the same price, later', row('builder'), 'team', 'later', 0n],
    ['to free: cancelled', row('scale'), 'free', 'cancel', 0n],
    ['the same: kept', row('scale'), 'scale', 'keep', 0n],
    ['free without any: kept', undefined, 'free', 'keep', 0n],
    ['down from one without an end, now', row('once', { periodEnd: null }), 'free', 'cancel', 0n],
    [
      'up from one without an end, whole',
      row('once', { periodEnd: null }),
      'builder',
      'now',
      20n * usd,
    ],
    [
      'up from one bought dearer than it is now',
      row('builder', { price: 300n * usd }),
      'scale',
      'later',
      0n,
    ],
  ]
  test.each(cases)('The change costs the expected amount: %s.', (_, from, to, change, charge) => {
    expect(quoteOf(from, plan(to), middle)).toMatchObject({ change, charge })
  })

  test('a cancelled plan is there until its end, and not at it', () => {
    const cancelled = row('scale', { status: 'canceling' })
    expect(currentOf(cancelled, end - 1)).toBe(cancelled)
    expect(currentOf(cancelled, end)).toBeUndefined()
    expect(currentOf(row('scale'), end)).toBeDefined()
  })

  test('is never less than nothing, at any moment and between any prices', () => {
    const dice = prng(11)
    for (let i = 0; i < 5000; i++) {
      const from = row('builder', {
        price: BigInt(dice.below(2 ** 31)) * BigInt(dice.below(4_000_000)),
      })
      const price = BigInt(dice.below(2 ** 31)) * BigInt(dice.below(4_000_000))
      const at = start + dice.below(2 ** 31) * 2 - 1_000_000_000
      const { charge, credit, change } = quoteOf(from, { ...plan('scale'), price }, at)
      expect(charge >= 0n && credit >= 0n).toBe(true)
      expect(charge + credit).toBe(change === 'now' ? price : 0n)
      expect(credit <= from.price).toBe(true)
    }
  })
})

describe('a discount', () => {
  test('never makes a cost negative, nor more than the list price, nor a settle above its hold', () => {
    const dice = prng(5)
    const line = (most: number): MeterLine => ({
      meter: 'input',
      quantity: dice.below(most),
      pricePusd: BigInt(dice.below(2 ** 31)),
    })
    for (let i = 0; i < 20_000; i++) {
      const bps = dice.below(10_001)
      const most = [line(2 ** 20), line(2 ** 20)]
      const used = most.map((one) => ({ ...one, quantity: dice.below(one.quantity + 1) }))
      const [hold, cost, list] = [costOf(most, bps), costOf(used, bps), costOf(used, 0)]
      expect(cost >= 0n && cost <= list && cost <= hold).toBe(true)
      if (bps === 10_000) expect(cost).toBe(0n)
    }
  })
})
