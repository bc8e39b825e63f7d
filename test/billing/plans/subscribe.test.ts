import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { configOf } from '../../config/load.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { payer } from './payer.ts'

const start = Date.UTC(2026, 0, 31, 10)
const day = 86_400_000
const refused = (type: string) => expect.objectContaining({ type })

describe.each(engines)('a subscription on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: start, toml: soldPlansToml })
  }, 60_000)
  afterAll(async () => {
    expect(await auditStore(w.db).whole(w.deps.clock.now())).toEqual([])
    await w.stop()
  })

  promise`D21 H: A plan is bought once, and no cap falls below what was spent.`
  test('asked for 100 times at once is bought once', async () => {
    const own = await payer(w, 1000)
    const done = await Promise.all(Array.from({ length: 100 }, () => own.subscribe('builder')))
    expect(done.filter(({ quote }) => quote.change === 'now')).toHaveLength(1)
    expect(await own.paid()).toEqual([20n * usd])
    expect(await own.all()).toHaveLength(1)
    expect(await own.row()).toMatchObject({ balance: 980n * usd, plan: 'builder' })
  }, 20_000)

  test('asked for in two plans at once costs each of them at most once, and leaves one', async () => {
    const own = await payer(w, 1000)
    const ids = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 'builder' : 'scale'))
    await Promise.all(ids.map((id) => own.subscribe(id)))
    const { plan, status } = await own.current()
    expect({ plan, status }).toEqual({ plan: 'scale', status: 'active' })
    // Whichever came first: what was paid for builder was taken off at once.
    const paid = await own.paid()
    expect(paid.reduce((sum, amount) => sum + amount, 0n)).toBe(200n * usd)
    expect(paid.length).toBeLessThanOrEqual(2)
  }, 20_000)

  test('runs from the moment it is bought to the same time of the next month', async () => {
    const own = await payer(w, 20)
    await own.subscribe('builder')
    const { periodStart, periodEnd } = await own.current()
    expect(periodStart).toBe(w.deps.clock.now())
    expect(periodEnd).toBe(Date.UTC(2026, 1, 28, 10))
    expect((await own.row()).balance).toBe(0n)
  })

  test('is refused without enough money that is not held, and nothing changes', async () => {
    const own = await payer(w, 20)
    const hold = (amount: bigint) =>
      w.deps.ledger.post({
        account: own.account,
        keys: [],
        decide(unit) {
          const row = unit.account(own.account) ?? expect.unreachable()
          row.held += amount
          unit.changed('account', row)
        },
      })
    await hold(5n)
    const before = await own.row()
    expect(await rejectionOf(own.subscribe('builder'))).toEqual(
      expect.objectContaining({
        type: 'insufficient_balance',
        detail: expect.objectContaining({
          metadata: expect.objectContaining({
            required_nusd: 20_000_000_000,
            available_nusd: 19_999_999_995,
          }),
        }),
      }),
    )
    expect(await own.row()).toEqual(before)
    expect(await own.all()).toEqual([])
    await hold(-5n)
  })

  test('changes upwards at once: the new price less what is left, to the nano-dollar', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('builder')
    const first = await own.current()
    w.advance(10 * day + 1)
    await own.subscribe('scale')
    const length = BigInt((first.periodEnd ?? 0) - first.periodStart)
    const left = (20n * usd * (length - BigInt(10 * day + 1))) / length
    expect(await own.paid()).toEqual([20n * usd, 200n * usd - left])
    const [old, now] = await own.all()
    expect(old).toMatchObject({ plan: 'builder', status: 'ended', endedAt: w.deps.clock.now() })
    expect(now).toMatchObject({ plan: 'scale', status: 'active', price: 200n * usd })
    expect(await own.row()).toMatchObject({ plan: 'scale', planUntil: null })
  })

  test('costs what was shown within ten minutes; later it has to be shown again', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('builder')
    const quotedAt = w.deps.clock.now()
    w.advance(599_999)
    await own.subscribe('scale', quotedAt)
    expect(await own.paid()).toEqual([20n * usd, 180n * usd])

    const other = await payer(w, 1000)
    const shown = w.deps.clock.now()
    w.advance(600_000)
    expect(await rejectionOf(other.subscribe('scale', shown))).toEqual(refused('conflict'))
    expect(await rejectionOf(other.subscribe('scale', shown + day))).toEqual(refused('conflict'))
    expect(await other.paid()).toEqual([])
  })

  test('a price that changed since it was shown has to be shown again', async () => {
    const own = await payer(w, 1000)
    const shown = w.deps.clock.now()
    w.advance(1000)
    await w.deps.adopt(configOf({ fileText: soldPlansToml }))
    expect(await rejectionOf(own.subscribe('builder', shown))).toEqual(refused('conflict'))
    expect(await own.paid()).toEqual([])
    await own.subscribe('builder', w.deps.clock.now())
    expect(await own.paid()).toEqual([20n * usd])
  })

  test('changes downwards at the end of what is paid, and back to what it was before', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('scale')
    await own.subscribe('builder')
    expect(await own.current()).toMatchObject({ plan: 'scale', nextPlan: 'builder' })
    expect(await own.row()).toMatchObject({ plan: 'scale', balance: 800n * usd })
    await own.resume()
    expect(await own.current()).toMatchObject({ plan: 'scale', nextPlan: null })
    await own.subscribe('builder')
    await own.subscribe('scale')
    expect(await own.current()).toMatchObject({ plan: 'scale', nextPlan: null })
    expect(await own.paid()).toEqual([200n * usd])
  })

  test('ends with its period when it is cancelled, unless that is taken back before', async () => {
    const own = await payer(w, 1000)
    await own.subscribe('builder')
    const { periodEnd } = await own.current()
    await own.cancel()
    await own.cancel()
    expect(await own.current()).toMatchObject({ status: 'canceling' })
    expect(await own.row()).toMatchObject({ plan: 'builder', planUntil: periodEnd })
    await own.resume()
    expect(await own.row()).toMatchObject({ plan: 'builder', planUntil: null })
    await own.subscribe('free')
    expect(await own.current()).toMatchObject({ status: 'canceling' })
    await own.subscribe('builder')
    expect(await own.current()).toMatchObject({ status: 'active' })
    expect(await own.paid()).toEqual([20n * usd])
  })

  test('that is over is neither resumed nor cancelled, and the next one costs all of its price', async () => {
    const own = await payer(w, 1000)
    expect(await rejectionOf(own.cancel())).toEqual(refused('conflict'))
    expect(await rejectionOf(own.resume())).toEqual(refused('conflict'))
    await own.subscribe('builder')
    await own.cancel()
    // The job that writes its end has not come yet.
    w.advance(31 * day)
    expect(await rejectionOf(own.resume())).toEqual(refused('conflict'))
    await own.subscribe('scale')
    expect(await own.paid()).toEqual([20n * usd, 200n * usd])
    expect((await own.all()).map(({ status }) => status)).toEqual(['ended', 'active'])
  })
})
