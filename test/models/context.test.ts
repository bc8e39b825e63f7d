import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Bound, boundOf } from '../../src/models/bound.ts'
import { echoModel } from '../../src/models/builtins.ts'
import { costOf } from '../../src/models/meter.ts'
import type { Model } from '../../src/models/model.ts'
import { holdLines, linesOf, makePrices } from '../../src/models/rates.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { promise } from '../support/promise.ts'

const chat: Model = {
  ...echoModel,
  id: 'acme/small',
  verifiable: 'none',
  maxOutputTokens: 1000,
  overhead: { perMessage: 16, fixed: 64 },
}

const say = (content: string, more = {}) => ({ messages: [{ role: 'user', content }], ...more })

const plain = { inputPusd: 3_000_000n, outputPusd: 15_000_000n, requestNusd: 0n }
const none = { classes: {}, bands: [], tiers: [] }

/** A bound whose input and output do not fit the context together. */
const shared = (more: Partial<Bound> = {}): Bound => ({
  inputTokens: 90_000,
  outputTokens: 32_000,
  maxTokens: 32_000,
  n: 1,
  inputBytes: 90_000,
  contextTokens: 100_000,
  ...more,
})

const holdOf = (bound: Bound, prices = makePrices(plain, none)) =>
  costOf(holdLines(prices, 'chat', bound), 0)

describe('input and output that share a context', () => {
  test('are held at the whole output and what it leaves of the input, where output is dearer', () => {
    expect(holdOf(shared())).toBe(68_000n * 3_000n + 32_000n * 15_000n)
  })

  test('are held at the whole input and what it leaves of the output, where input is dearer', () => {
    const prices = makePrices({ ...plain, outputPusd: 1_000_000n }, none)
    expect(holdOf(shared(), prices)).toBe(90_000n * 3_000n + 10_000n * 1_000n)
    // Two choices write two tokens in the room of one that is read.
    const two = shared({ n: 2, outputTokens: 64_000 })
    expect(holdOf(two, prices)).toBe(90_000n * 3_000n + 20_000n * 1_000n)
  })

  promise`D30 H: A hold bounds what a run is charged: text, images, PDFs, bands, tiers, a context.`
  test('are never charged above the hold by any report, and never without output', () => {
    const rate = fc.bigInt({ min: 0n, max: 20_000_000n })
    const tokens = fc.integer({ min: 0, max: 150_000 })
    const bounds = fc
      .record({
        contextTokens: fc.integer({ min: 2, max: 100_000 }),
        input: fc.integer({ min: 1, max: 100_000 }),
        maxTokens: fc.integer({ min: 1, max: 100_000 }),
        n: fc.integer({ min: 1, max: 4 }),
      })
      .map(({ contextTokens, input, maxTokens, n }): Bound => {
        const most = Math.min(maxTokens, contextTokens - 1)
        const inputTokens = Math.min(input, contextTokens - 1)
        const bound = { inputTokens, maxTokens: most, n, outputTokens: most * n, inputBytes: input }
        return inputTokens + most > contextTokens ? { ...bound, contextTokens } : bound
      })
    const cards = fc.record({
      inputPusd: rate,
      outputPusd: rate,
      cacheRead: rate,
      band: fc.record({ above: tokens, input: rate, output: rate }),
    })
    fc.assert(
      fc.property(bounds, cards, tokens, tokens, tokens, (bound, card, input, output, cached) => {
        const prices = makePrices(
          { inputPusd: card.inputPusd, outputPusd: card.outputPusd, requestNusd: 7n },
          {
            classes: { cache_read: card.cacheRead },
            bands: [
              {
                aboveInputTokens: card.band.above,
                rates: { input: card.band.input, output: card.band.output },
              },
            ],
            tiers: [],
          },
        )
        const { usage } = decideUsage({
          bound,
          prices,
          reported: {
            prompt_tokens: input,
            completion_tokens: output,
            prompt_tokens_details: { cached_tokens: cached },
          },
          delivered: { inputBytes: 10, outputBytes: 10, output: [] },
          counting: { bytesPerToken: 4 },
          embedded: false,
        })
        const cost = costOf(linesOf(prices, 'chat', usage), 0)
        expect(cost <= costOf(holdLines(prices, 'chat', bound), 0)).toBe(true)
        if (output > 0) expect(usage.outputTokens).toBeGreaterThan(0)
      }),
      { numRuns: 2000 },
    )
  })

  test('a run that fits the context is charged all it used, also at its whole max_tokens', () => {
    const reported = { prompt_tokens: 68_000, completion_tokens: 32_000 }
    const decided = decideUsage({
      bound: shared(),
      prices: plain,
      reported,
      delivered: { inputBytes: 1, outputBytes: 1, output: [] },
      counting: { bytesPerToken: 4 },
      embedded: false,
    })
    expect(decided).toMatchObject({
      usage: { inputTokens: 68_000, outputTokens: 32_000 },
      clamped: false,
    })
  })
})

describe('the bound of a chat', () => {
  test('is never above the context, which lowers no max_tokens and refuses nothing', () => {
    const small = { ...chat, contextTokens: 1500 }
    expect(boundOf(small, say('x'.repeat(9000), { max_tokens: 900 }))).toMatchObject({
      inputTokens: 1499,
      maxTokens: 900,
      outputTokens: 900,
      contextTokens: 1500,
    })
    expect(boundOf(small, say('x', { max_tokens: 900 }))).not.toHaveProperty('contextTokens')
    const tiny = { ...chat, contextTokens: 100 }
    expect(boundOf(tiny, say('x', { max_tokens: 900 })).maxTokens).toBe(99)
  })

  test('goes by the bytes of a token that the operator risks, rounded up', () => {
    const { inputBytes } = boundOf(chat, say('twelve words'))
    for (const holdBytesPerToken of [1, 2, 3, 4]) {
      const bound = boundOf({ ...chat, holdBytesPerToken }, say('twelve words'))
      expect(bound.inputTokens).toBe(Math.ceil(inputBytes / holdBytesPerToken) + 64 + 16)
      expect(bound.inputBytes).toBe(inputBytes)
    }
  })
})
