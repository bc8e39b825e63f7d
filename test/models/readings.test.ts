import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { linesOf, makePrices } from '../../src/models/rates.ts'
import type { UsageShape } from '../../src/models/reported.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { TokenSizes } from '../../src/runs/reports.ts'

const prices = makePrices(
  { inputPusd: 2_500_000n, outputPusd: 10_000_000n, requestNusd: 0n },
  {
    classes: { cache_read: 250_000n, cache_write: 3_000_000n, cache_write_1h: 5_000_000n },
    bands: [],
    tiers: [],
  },
)
const bound = {
  ...{ inputTokens: 5000, outputTokens: 5000, maxTokens: 5000 },
  ...{ n: 1, inputBytes: 4000 },
}

/** The bill of a request of 4,000 bytes whose answer has 400. */
function bill(reported: JsonObject, shape: UsageShape = 'chat') {
  const decided = decideUsage({
    bound,
    prices,
    reported,
    shape,
    delivered: { inputBytes: 4000, outputBytes: 400, output: [] },
    counting: { bytesPerToken: 4 },
    embedded: false,
  })
  const lines = linesOf(prices, 'chat', decided.usage)
  const units = Object.fromEntries(lines.map(({ meter, quantity }) => [meter, quantity]))
  return { units, source: decided.source, contradicts: decided.contradicts }
}

describe('a report whose details contradict its total', () => {
  const cached = (prompt_tokens: number, cached_tokens: number) => ({
    ...{ prompt_tokens, prompt_tokens_details: { cached_tokens } },
    completion_tokens: 90,
  })

  test('is its total where that is enough for what was sent', () => {
    expect(bill(cached(900, 1000))).toEqual({
      units: { input: 900, output: 90 },
      source: 'counted',
      contradicts: ['input'],
    })
  })

  test('is both where the total is too little for what was sent', () => {
    expect(bill(cached(100, 1000)).units).toEqual({ input: 100, cache_read: 1000, output: 90 })
  })

  test('of reasoning is the total where that is enough for what was said', () => {
    const of = (completion_tokens: number) => ({
      ...{ prompt_tokens: 900, completion_tokens },
      completion_tokens_details: { reasoning_tokens: 400 },
    })
    expect(bill(of(60)).units).toEqual({ input: 900, output: 60 })
    expect(bill(of(10)).units).toEqual({ input: 900, output: 410 })
  })

  test('of fractions of a token does not contradict itself', () => {
    const said = { ...cached(1005.4, 919.3), prompt_tokens_details: { cached_tokens: 919.3 } }
    const { units, source } = bill(said)
    expect(units).toEqual({ input: 87, cache_read: 920, output: 90 })
    expect(source).toBe('reported')
  })
})

describe('a split of what was written to the caches of Anthropic', () => {
  const of = (written: number, minutes: number, hours: number) =>
    bill(
      {
        ...{ input_tokens: 900, output_tokens: 90, cache_creation_input_tokens: written },
        cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hours },
      },
      'messages',
    )

  test('is billed where it adds up', () => {
    const units = { input: 900, cache_write: 20, cache_write_1h: 30, output: 90 }
    expect(of(50, 20, 30)).toEqual({ units, source: 'reported', contradicts: undefined })
  })

  test('loses to its total where it does not', () => {
    const units = { input: 900, cache_write: 50, output: 90 }
    expect(of(50, 10, 30)).toEqual({ units, source: 'counted', contradicts: ['input'] })
  })

  test('of zeros alone is none', () => {
    const units = { input: 900, cache_write: 50, output: 90 }
    expect(of(50, 0, 0)).toEqual({ units, source: 'reported', contradicts: undefined })
  })
})

describe('the bytes of a token', () => {
  const note = (sizes: TokenSizes, account: string, bytesPerToken: number, runs = 8) => {
    for (let run = 0; run < runs; run++) {
      sizes.note({ model: 'm', account }, 'said', { bytes: 200 * bytesPerToken, tokens: 200 })
    }
  }

  test('are known after eight runs, for the side and the model that they were reported of', () => {
    const sizes = new TokenSizes()
    note(sizes, 'a', 4.5, 7)
    expect(sizes.of('m', 'said')).toBeUndefined()
    note(sizes, 'a', 4.5, 1)
    expect(sizes.of('m', 'said')).toBeCloseTo(4.5)
    expect([sizes.of('m', 'read'), sizes.of('other', 'said')]).toEqual([undefined, undefined])
  })

  test('do not follow short texts, hidden reasoning, or one account among others', () => {
    const sizes = new TokenSizes()
    note(sizes, 'a', 4)
    const of = { model: 'm', account: 'a' }
    for (let run = 0; run < 100; run++) {
      sizes.note(of, 'said', { bytes: 900, tokens: 50 })
      sizes.note(of, 'said', { bytes: 100, tokens: 500 })
    }
    note(sizes, 'padding', 400, 500)
    expect(sizes.of('m', 'said')).toBeCloseTo(4)
    // Alone it can make a token 16 bytes large at most.
    const alone = new TokenSizes()
    note(alone, 'padding', 400, 500)
    expect(alone.of('m', 'said')).toBe(16)
  })
})
