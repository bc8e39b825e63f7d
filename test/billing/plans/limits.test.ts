import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { costOf } from '../../../src/models/meter.ts'
import { outcomeOf, rejectionOf } from '../../support/rejection.ts'
import {
  expectSettled,
  lastRun,
  modelToml,
  pricedBuiltins,
  upstreamToml,
} from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, type World, world } from '../../support/world.ts'
import { payer } from './payer.ts'

const plansToml = `[limits]
rpm = 40
concurrency = 3
[[plans]]
id = "free"
limits = { rpm = 20, concurrency = 1, max_keys = 2, max_depth = 1, history_days = 7 }
models = ["counterfoil/*"]
[[plans]]
id = "builder"
discount_bps = 3_333
limits = { rpm = 30, concurrency = 2, max_keys = 4, max_depth = 2 }
[[plans]]
id = "scale"
[[plans]]
id = "gift"
price_nusd = 1
discount_bps = 10_000
`

const ask = (content = 'a b c') => ({
  model: 'counterfoil/echo-1',
  messages: [{ role: 'user', content }],
})

describe.each(engines)('what a plan gives, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  beforeAll(async () => {
    stub = await startStubUpstream()
    const models = upstreamToml('stub', stub.url) + modelToml('stub/stall', '"stub:stall"')
    w = await world({ engine, toml: plansToml + pricedBuiltins + models })
  }, 60_000)
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const newKey = async (dollars = 100) => {
    const own = await payer(w, dollars)
    const { key, secret } = await w.key({ account: own.account })
    return { own, key, secret }
  }
  const run = (secret: string, json: unknown = ask()) =>
    w.call('/v1/chat/completions', { key: secret, json })
  const typeOf = async (answer: Response) => [
    answer.status,
    (await answer.json()).error?.type ?? 'none',
  ]

  describe('a discount', () => {
    test('is off the hold, the cost and the receipt from the next run on', async () => {
      const { own, secret } = await newKey()
      await run(secret)
      const before = await lastRun(w)
      await own.subscribe('builder')
      const answer = await run(secret)
      const after = await lastRun(w)
      const lines = after.lines.map(({ meter, quantity, price }) => ({
        meter: meter as 'input',
        quantity,
        pricePusd: BigInt(price),
      }))
      expect(before.discountBps).toBe(0)
      expect(after.discountBps).toBe(3333)
      expect(after.cost).toBe(costOf(lines, 3333))
      expect(after.cost).toBeLessThan(before.cost)
      expect(after.hold).toBe(before.hold - (before.hold * 3333n) / 10_000n)
      const { receipt } = await answer.json()
      expect(receipt.cost_nusd).toBe(Number(after.cost))
      const file = await (await w.call(`/v1/receipts/${receipt.id}`, { key: secret })).json()
      expect(file.receipt.charge.discountBps).toBe('3333')
      const verdict = await w.call('/v1/receipts/verify', { json: file })
      expect(await verdict.json()).toMatchObject({ valid: true })
    })

    test('of everything makes a run free, on an account with nothing left', async () => {
      const { own, secret } = await newKey(0)
      await own.fund(1n)
      expect((await run(secret)).status).toBe(402)
      await own.subscribe('gift')
      expect((await own.row()).balance).toBe(0n)
      expect((await run(secret)).status).toBe(200)
      expect(await lastRun(w)).toMatchObject({ cost: 0n, hold: 0n, discountBps: 10_000 })
    })

    test('lets a balance pay for what it would not pay for without, and not one nano more', async () => {
      const { secret } = await newKey()
      await run(secret)
      const { hold } = await lastRun(w)
      const least = hold - (hold * 3333n) / 10_000n
      const short = await newKey(20)
      await short.own.fund(least - 1n)
      await short.own.subscribe('builder')
      const refused = await run(short.secret)
      expect(refused.status).toBe(402)
      const { metadata } = (await refused.json()).error
      expect(metadata).toMatchObject({
        limited_by: 'balance',
        required_nusd: Number(least),
        available_nusd: Number(least) - 1,
      })
      const most = metadata.max_affordable_output_tokens
      expect((await run(short.secret, { ...ask(), max_tokens: most })).status).toBe(200)
      await short.own.fund(1n + (await lastRun(w)).cost)
      expect((await run(short.secret)).status).toBe(200)
    })

    test('stays what it was at the begin of a run that is in flight when the plan changes', async () => {
      const { own, secret } = await newKey()
      await own.subscribe('builder')
      const stop = new AbortController()
      const json = { ...ask(), model: 'stub/stall' }
      const pending = w
        .call('/v1/chat/completions', { key: secret, json, signal: stop.signal })
        .catch(() => undefined)
      while ((await w.deps.accounts.find(own.account))?.held === 0n) await Bun.sleep(5)
      await own.subscribe('gift')
      stop.abort()
      await pending
      while ((await w.deps.accounts.find(own.account))?.held !== 0n) await Bun.sleep(5)
      expect(await lastRun(w)).toMatchObject({ model: 'stub/stall', discountBps: 3333 })
      await expectSettled(w)
    })
  })

  describe('limits', () => {
    test('requests: the lowest of key, plan and server, at once after a change of plan', async () => {
      const { own, secret } = await newKey()
      const limitOf = async (key: string) =>
        (await w.call('/v1/balance', { key })).headers.get('x-ratelimit-limit-requests')
      expect(await limitOf(secret)).toBe('20')
      await own.subscribe('builder')
      expect(await limitOf(secret)).toBe('30')
      expect(w.deps.plans.find('scale')?.limits.rpm).toBe(40)
      const { secret: low } = await w.key({ account: own.account, rpm: 5 })
      expect(await limitOf(low)).toBe('5')
      const { secret: high } = await w.key({ account: own.account, rpm: 500 })
      expect(await limitOf(high)).toBe('30')
      const statuses = await Promise.all(
        Array.from({ length: 31 }, async () => (await w.call('/v1/balance', { key: high })).status),
      )
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1)
    })

    test('runs at once: those of the plan, where the key has no lower one', async () => {
      const { own, secret } = await newKey()
      await own.subscribe('builder')
      const stop = new AbortController()
      const json = { ...ask(), model: 'stub/stall' }
      const stalled = Array.from({ length: 2 }, () =>
        w
          .call('/v1/chat/completions', { key: secret, json, signal: stop.signal })
          .catch(() => undefined),
      )
      const { live } = w.deps
      while (live.all().length < 2) await Bun.sleep(5)
      expect(await typeOf(await run(secret))).toEqual([429, 'concurrency_limited'])
      stop.abort()
      await Promise.all(stalled)
      while (live.count() > 0) await Bun.sleep(5)
      expect((await run(secret)).status).toBe(200)
    })

    test('keys: 409 conflict for one more than the plan has, room again with a larger one', async () => {
      const { own } = await newKey()
      const more = () => w.key({ account: own.account })
      await more()
      expect(await outcomeOf(more())).toThrow('at most 2 active keys on the plan Free')
      await own.subscribe('builder')
      await more()
      await more()
      expect(await outcomeOf(more())).toThrow('at most 4 active keys on the plan Builder')
    })

    test('depth: 400 invalid_request for a key below the levels of the plan', async () => {
      const { own, key } = await newKey()
      await own.subscribe('builder')
      const child = await w.key({ account: own.account, parentId: key.id })
      const grandchild = await w.key({ account: own.account, parentId: child.key.id })
      expect(
        await rejectionOf(w.key({ account: own.account, parentId: grandchild.key.id })),
      ).toMatchObject({ type: 'invalid_request', detail: { param: 'parent_id' } })
    })

    test('models: 403 model_not_allowed outside of what the plan opens', async () => {
      const { own, secret } = await newKey()
      const other = { ...ask(), model: 'stub/stall', max_tokens: 1 }
      expect(await typeOf(await run(secret, other))).toEqual([403, 'model_not_allowed'])
      await own.subscribe('builder')
      const stop = AbortSignal.timeout(100)
      const allowed = await w
        .call('/v1/chat/completions', { key: secret, json: other, signal: stop })
        .catch(() => undefined)
      expect(allowed?.status ?? 'in flight').toBe('in flight')
    })
  })

  test('GET /v1/keys/self and GET /v1/balance name the plan, also one that is cancelled', async () => {
    const { own, secret } = await newKey()
    const plans = async () => [
      (await (await w.call('/v1/keys/self', { key: secret })).json()).account.plan,
      (await (await w.call('/v1/balance', { key: secret })).json()).plan,
    ]
    expect(await plans()).toEqual(['free', 'free'])
    await own.subscribe('builder')
    expect(await plans()).toEqual(['builder', 'builder'])
    await own.cancel()
    expect(await plans()).toEqual(['builder', 'builder'])
  })
})
