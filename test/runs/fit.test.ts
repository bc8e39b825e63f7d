import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Bound } from '../../src/models/bound.ts'
import type { Model } from '../../src/models/model.ts'
import { makePrices, type Rates } from '../../src/models/rates.ts'
import { affordableTokens, fitBound, holdOf, withTokens } from '../../src/runs/fit.ts'
import { prng } from '../ledger/prng.ts'
import { promise } from '../support/promise.ts'
import { expectSettled, modelsToml, outputPrice } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const { below } = prng(4663)

/** Some rates: of reading from a cache, of bands, of a tier. */
function anyCard() {
  const rates = (...meters: (keyof Rates)[]): Rates =>
    Object.fromEntries(meters.map((meter) => [meter, BigInt(below(9_000_000))]))
  const band = () => ({ aboveInputTokens: below(6000), rates: rates('input', 'output') })
  return {
    classes: below(2) ? rates('cache_read', 'cache_write') : {},
    bands: below(2) ? [band()] : [],
    tiers: below(2) ? [{ name: 'priority', rates: rates('input', 'output') }] : [],
  }
}

promise`D30`
test('the bound that fits holds no more than the room, and one token more would not fit', () => {
  let lowered = 0
  for (let i = 0; i < 20_000; i++) {
    const own = {
      inputPusd: BigInt(below(2) * below(3_000_000)),
      outputPusd: BigInt(below(10) === 0 ? 0 : 1 + below(10_000_000)),
      requestNusd: BigInt(below(2) * below(50_000)),
    }
    const prices = below(2) ? own : makePrices(own, anyCard())
    const maxOutputTokens = 1 + below(100_000)
    const model = { prices, kind: 'chat', maxOutputTokens } as Model
    const n = 1 + below(4)
    const inputTokens = below(5000)
    const blank: Bound = { inputTokens, n, inputBytes: inputTokens, outputTokens: 1, maxTokens: 1 }
    if (below(2)) blank.tier = 'priority'
    const asked = withTokens(blank, 1 + below(maxOutputTokens))
    if (below(2)) asked.contextTokens = Math.max(inputTokens, asked.maxTokens) + 1 + below(5000)
    const discount = below(2) * below(10_001)
    const room = BigInt(below(2) === 0 ? below(10_000_000) : below(2 ** 32))
    const fitted = fitBound(model, asked, room, discount)
    const hold = holdOf(model, fitted, discount)
    expect(fitted.maxTokens).toBeGreaterThan(0)
    expect(fitted.maxTokens).toBeLessThanOrEqual(asked.maxTokens)
    expect(fitted.outputTokens).toBe(fitted.maxTokens * n)
    if (hold > room) {
      // Then not even one token fits, or output is free and is not what is too dear.
      const isLeast =
        fitted.maxTokens === 1 || hold === holdOf(model, withTokens(asked, 1), discount)
      expect(isLeast).toBe(true)
    } else if (fitted.maxTokens < asked.maxTokens) {
      lowered++
      const more = withTokens(fitted, fitted.maxTokens + 1)
      expect(holdOf(model, more, discount)).toBeGreaterThan(room)
    }
  }
  expect(lowered).toBeGreaterThan(1000)
})

describe('how many tokens a room affords', () => {
  const bound = { inputTokens: 1, n: 1, inputBytes: 1, outputTokens: 9, maxTokens: 9 }
  const prices = { inputPusd: 999n, outputPusd: 1n, requestNusd: 1n }
  const model = { prices, kind: 'chat', maxOutputTokens: 9 } as Model
  test.each([
    ['nothing left', 0n, 0],
    ['less than nothing left', 1n, 0],
    ['the last pico-dollar of a token', 2n, 1],
    ['more than an answer may be', 9n, 9],
  ])('%s', (_, room, tokens) => {
    expect(affordableTokens(model, bound, room, 0)).toBe(tokens)
  })

  test.each([
    ['output that is free', { ...prices, outputPusd: 0n }, bound, 0],
    ['an embedding', prices, { ...bound, outputTokens: 0, maxTokens: 0 }, 0],
    ['a plan that pays nothing', prices, bound, 10_000],
  ])('is no question for %s', (_, paid, asked, discount) => {
    expect(affordableTokens({ ...model, prices: paid }, asked, 5n, discount)).toBeNull()
  })
})

describe('fit: true', () => {
  let w: World
  let stub: StubUpstream
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ toml: modelsToml(stub.url, ['normal']) })
    await w.key({ balance: usd })
  })
  beforeEach(() => {
    stub.calls.length = 0
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const run = (key: string, more: object = {}, path = '/v1/runs') => {
    const messages = [{ role: 'user', content: 'hi' }]
    return w.call(path, { key, json: { model: 'stub/normal', messages, fit: true, ...more } })
  }
  /** What the input of {@link run} may cost at most, read from a refusal. */
  const inputMost = async (): Promise<bigint> => {
    const { secret } = await w.key({ capLimit: 1n })
    const refused = await (await run(secret, { fit: false, max_output_tokens: 1 })).json()
    return BigInt(refused.error.metadata.required_nusd) - outputPrice
  }

  test('lowers max_tokens to what the nearest purse affords, says so, and sends it upstream', async () => {
    const room = (await inputMost()) + 10n * outputPrice + 1n
    const top = await w.key({ maxCostPerRun: room })
    const tight = [
      top.secret,
      (await w.key({ capLimit: room })).secret,
      (await w.key({ parentId: top.key.id })).secret,
    ]
    for (const secret of tight) {
      const answer = await run(secret)
      expect(answer.status).toBe(200)
      const body = await answer.json()
      expect(body.max_output_tokens).toBe(10)
      expect(body.hold_nusd).toBe(Number(room - 1n))
      expect(stub.calls.at(-1)?.body['max_tokens']).toBe(10)
    }
  })

  test('lowers nothing where there is room, and never above what was asked', async () => {
    const { secret } = await w.key()
    const body = await (await run(secret, { max_output_tokens: 7 })).json()
    expect(body.max_output_tokens).toBe(7)
    expect((await (await run(secret)).json()).max_output_tokens).toBe(1000)
    expect(stub.calls.map((call) => call.body['max_tokens'])).toEqual([7, 1000])
  })

  test('is 402 where not even one token is affordable, naming what one would take', async () => {
    const least = (await inputMost()) + outputPrice
    const { secret } = await w.key({ capLimit: least - 1n })
    const answer = await run(secret)
    expect(answer.status).toBe(402)
    const { error } = await answer.json()
    expect(error.type).toBe('cap_exceeded')
    expect(error.metadata).toMatchObject({
      required_nusd: Number(least),
      max_affordable_output_tokens: 0,
    })
    expect(stub.calls).toEqual([])
    expect((await run((await w.key({ capLimit: least })).secret)).status).toBe(200)
  })

  test('without it the same run is 402', async () => {
    const { secret } = await w.key({ capLimit: (await inputMost()) + 10n * outputPrice })
    expect((await run(secret, { fit: false })).status).toBe(402)
  })

  test('choices share what exists, in OpenAI’s shape too, streamed or not', async () => {
    const room = 1000n * outputPrice
    for (const stream of [false, true]) {
      const { secret } = await w.key({ maxCostPerRun: room })
      const more = { n: stream ? 1 : 2, max_completion_tokens: 1000, stream }
      const answer = await run(secret, more, '/v1/chat/completions')
      expect(answer.status).toBe(200)
      const said = Number(/"max_output_tokens":(\d+)/.exec(await answer.text())?.[1])
      expect(stub.calls.at(-1)?.body['max_completion_tokens']).toBe(said)
      expect(said).toBeLessThan(stream ? 1000 : 500)
    }
  })

  test('holds of many at once never pass the cap', async () => {
    const cap = 30n * ((await inputMost()) + 5n * outputPrice)
    const { key, secret } = await w.key({ capLimit: cap })
    const answers = await Promise.all(Array.from({ length: 60 }, () => run(secret)))
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    expect(answers.every(({ status }) => status === 200 || status === 402)).toBe(true)
    const shown = await w.deps.keys.show(key.id, w.deps.clock.now())
    expect(shown.window?.spent ?? 0n).toBeLessThanOrEqual(cap)
  })

  test('a background run says it in its 202', async () => {
    const room = (await inputMost()) + 3n * outputPrice
    const { secret } = await w.key({ maxCostPerRun: room })
    const answer = await run(secret, { background: true })
    expect([answer.status, (await answer.json()).max_output_tokens]).toEqual([202, 3])
  })
})
