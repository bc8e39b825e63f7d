import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeCatalogue } from '../../src/models/catalogue.ts'
import { costOf, inputClasses, outputClasses } from '../../src/models/meter.ts'
import type { ModelConfig } from '../../src/models/model-config.ts'
import { holdLines, linesOf, unpricedUnits } from '../../src/models/rates.ts'
import type { UsageShape } from '../../src/models/reported.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { promise } from '../support/promise.ts'

const large: ModelConfig = {
  id: 'acme/large',
  route: ['local:large'],
  kind: 'chat',
  context_tokens: 1_000_000,
  max_output_tokens: 64_000,
  input_pusd: 3_000_000,
  cache_read_pusd: 300_000,
  cache_write_pusd: 3_750_000,
  cache_write_1h_pusd: 6_000_000,
  output_pusd: 15_000_000,
  reasoning_pusd: 15_000_000,
  web_search_nusd: 10_000_000,
  bands: [{ above_input_tokens: 200_000, input_pusd: 6_000_000, output_pusd: 22_500_000 }],
  tiers: [{ name: 'priority', input_pusd: 6_000_000, output_pusd: 30_000_000 }],
}

const small: ModelConfig = {
  ...large,
  ...{ input_pusd: 2_500_000, cache_read_pusd: 250_000, output_pusd: 10_000_000 },
  cache_write_pusd: undefined,
  cache_write_1h_pusd: undefined,
  reasoning_pusd: undefined,
  bands: undefined,
  tiers: undefined,
}

const modelOf = (config: ModelConfig) => {
  const found = makeCatalogue({ models: [config], upstreamIds: ['local'] }).get(config.id)
  if (!found) throw new Error('the model is not there')
  return found
}

const most = { maxTokens: 64_000, n: 1, inputBytes: 4000 }
const wide = { inputTokens: 1_000_000, outputTokens: 64_000, ...most }
const delivered = { inputBytes: 4000, outputBytes: 400, output: [] }

function bill(
  config: ModelConfig,
  reported: object,
  more: { shape?: UsageShape; bound?: object; tier?: string } = {},
) {
  const { prices } = modelOf(config)
  const bound = { ...wide, ...more.bound }
  const { usage, source } = decideUsage({
    bound,
    prices,
    reported: reported as never,
    shape: more.shape ?? 'chat',
    tier: more.tier,
    delivered,
    counting: { bytesPerToken: 4 },
    embedded: false,
  })
  const lines = linesOf(prices, 'chat', usage)
  const units = Object.fromEntries(lines.map(({ meter, quantity }) => [meter, quantity]))
  const hold = costOf(holdLines(prices, 'chat', bound), 0)
  return { units, cost: costOf(lines, 0), hold, source, lines, usage, prices }
}

promise`O1 C: Each class of tokens is billed once, at its own rate or the dearest of its side.`
describe('the bill of a usage', () => {
  test('of Anthropic, with both caches', () => {
    const usage = {
      input_tokens: 21,
      cache_creation_input_tokens: 188_086,
      cache_creation: { ephemeral_5m_input_tokens: 148_086, ephemeral_1h_input_tokens: 40_000 },
      cache_read_input_tokens: 1000,
      output_tokens: 393,
    }
    expect(bill(large, usage, { shape: 'messages' })).toMatchObject({
      units: { input: 21, cache_read: 1000, cache_write: 148_086, cache_write_1h: 40_000 },
      cost: 801_580_500n,
      source: 'reported',
    })
  })

  const chat = {
    prompt_tokens: 2006,
    completion_tokens: 300,
    prompt_tokens_details: { cached_tokens: 1920 },
    completion_tokens_details: { reasoning_tokens: 256 },
  }

  test('of OpenAI, reasoning inside of the output', () => {
    const { units, cost } = bill(small, chat)
    expect(units).toEqual({ input: 86, cache_read: 1920, output: 300 })
    expect(cost).toBe(3_695_000n)
  })

  test('of OpenAI, reasoning at a rate of its own', () => {
    const { units, cost } = bill({ ...small, reasoning_pusd: 12_000_000 }, chat)
    expect(units).toEqual({ input: 86, cache_read: 1920, output: 44, reasoning: 256 })
    expect(cost).toBe(4_207_000n)
  })

  test('whose details contradict its total is the total, counted', () => {
    const wrong = { ...chat, prompt_tokens_details: { cached_tokens: 3000 } }
    const { units, source, lines } = bill(small, wrong)
    expect(units).toEqual({ input: 2006, output: 300 })
    expect([source, lines[0]?.pricePusd]).toEqual(['counted', 2_500_000n])
  })

  for (const wrong of [-1, '7', true, {}, 2 ** 60]) {
    test(`with a detail of ${JSON.stringify(wrong)} is the total at its plain rate`, () => {
      const said = { ...chat, prompt_tokens_details: { cached_tokens: wrong } }
      const { units, source, lines } = bill({ ...small, cache_write_pusd: 4_000_000 }, said)
      expect(units).toEqual({ input: 2006, output: 300 })
      expect([source, lines[0]?.pricePusd]).toEqual(['counted', 2_500_000n])
    })
  }
})

describe('bands and tiers', () => {
  const usage = (prompt_tokens: number) => ({ prompt_tokens, completion_tokens: 10 })

  test('a band is of the whole run, above its input', () => {
    expect(bill(large, usage(200_000)).cost).toBe(600_150_000n)
    expect(bill(large, usage(200_001)).cost).toBe(1_200_006_000n + 225_000n)
  })

  test('billed is the tier that the answer names, unless it is dearer than the one held for', () => {
    const asked = { bound: { tier: 'priority' } }
    const costs = [
      bill(large, usage(10)),
      bill(large, usage(10), { tier: 'priority' }),
      bill(large, usage(10), asked),
      bill(large, usage(10), { ...asked, tier: 'default' }),
      bill(large, usage(10), { ...asked, tier: 'priority' }),
      bill(large, usage(10), { ...asked, tier: 'unheard' }),
    ].map(({ cost }) => cost)
    const [ordinary, priority] = [180_000n, 360_000n]
    expect(costs).toEqual([ordinary, ordinary, priority, ordinary, priority, priority])
  })
})

promise`O1`
test('the same usage in three shapes gives the same bill', () => {
  const count = fc.nat(100_000)
  fc.assert(
    fc.property(count, count, count, count, (plain, read, written, output) => {
      const total = plain + read + written
      const details = { cached_tokens: read, cache_write_tokens: written }
      const bills = [
        bill(large, {
          prompt_tokens: total,
          completion_tokens: output,
          prompt_tokens_details: details,
        }),
        bill(
          large,
          { input_tokens: total, output_tokens: output, input_tokens_details: details },
          { shape: 'responses' },
        ),
        bill(
          large,
          {
            input_tokens: plain,
            output_tokens: output,
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
          },
          { shape: 'messages' },
        ),
      ].map(({ units, cost, source }) => ({ units, cost, source }))
      expect(bills[1]).toEqual(bills[0])
      expect(bills[2]).toEqual(bills[0])
    }),
  )
})

describe('any report', () => {
  const rate = fc.option(fc.integer({ min: 1, max: 20_000_000 }), { nil: undefined })
  const config = fc
    .record({
      cache_read_pusd: rate,
      cache_write_pusd: rate,
      audio_input_pusd: rate,
      image_input_pusd: rate,
      reasoning_pusd: rate,
      audio_output_pusd: rate,
    })
    .map((rates): ModelConfig => ({ ...small, ...rates }))
  const count = fc.nat(400)
  const usageOf = fc.record({
    input: fc.record({ plain: count, cached: count, written: count, audio: count, image: count }),
    output: fc.record({ plain: fc.integer({ min: 1, max: 400 }), reasoning: count, audio: count }),
  })
  type Parts = typeof usageOf extends fc.Arbitrary<infer T> ? T : never
  const report = ({ input, output }: Parts) => ({
    prompt_tokens: input.plain + input.cached + input.written + input.audio + input.image,
    completion_tokens: output.plain + output.reasoning + output.audio,
    prompt_tokens_details: {
      cached_tokens: input.cached,
      cache_write_tokens: input.written,
      audio_tokens: input.audio,
      image_tokens: input.image,
    },
    completion_tokens_details: {
      reasoning_tokens: output.reasoning,
      audio_tokens: output.audio,
    },
  })
  const bounds = fc.record({
    inputTokens: fc.integer({ min: 1, max: 2500 }),
    outputTokens: fc.integer({ min: 1, max: 1500 }),
  })
  const sum = (units: Record<string, number>, names: readonly string[]): number =>
    names.reduce((all, name) => all + (units[name] ?? 0), 0)

  test('has lines that are disjoint, add up and stay within the hold', () => {
    fc.assert(
      fc.property(config, usageOf, bounds, (model, parts, bound) => {
        const said = report(parts)
        const { units, cost, hold, lines } = bill(model, said, { bound })
        expect(new Set(lines.map(({ meter }) => meter)).size).toBe(lines.length)
        const input = Math.min(said.prompt_tokens, bound.inputTokens)
        const output = Math.min(said.completion_tokens, bound.outputTokens)
        expect(sum(units, ['input', ...inputClasses])).toBe(input)
        expect(sum(units, ['output', ...outputClasses])).toBe(output)
        expect(Object.values(units).every((quantity) => quantity >= 0)).toBe(true)
        expect(cost <= hold).toBe(true)
      }),
    )
  })

  test('more of anything never costs less', () => {
    const more = fc.constantFrom('plain', 'cached', 'written', 'audio', 'image')
    fc.assert(
      fc.property(config, usageOf, bounds, more, (model, parts, bound, name) => {
        const { input } = parts
        const grown = { ...parts, input: { ...input, [name]: input[name] + 1 } }
        const [less, most] = [parts, grown].map((one) => bill(model, report(one), { bound }).cost)
        expect((less ?? 0n) <= (most ?? 0n)).toBe(true)
      }),
    )
    const wrote = fc.constantFrom('plain', 'reasoning', 'audio')
    fc.assert(
      fc.property(config, usageOf, bounds, wrote, (model, parts, bound, name) => {
        const { output } = parts
        const grown = { ...parts, output: { ...output, [name]: output[name] + 1 } }
        const [less, most] = [parts, grown].map((one) => bill(model, report(one), { bound }).cost)
        expect((less ?? 0n) <= (most ?? 0n)).toBe(true)
      }),
    )
  })

  test('never has a class for nothing, and what had no rate of its own is named', () => {
    fc.assert(
      fc.property(config, usageOf, (model, parts) => {
        const { lines, usage, prices } = bill(model, report(parts))
        for (const { quantity, pricePusd } of lines) {
          if (quantity > 0) expect(pricePusd > 0n).toBe(true)
        }
        const named = unpricedUnits(prices, usage).map(([meter]) => meter)
        expect(named.includes('cache_read')).toBe(
          parts.input.cached > 0 && model.cache_read_pusd === undefined,
        )
        expect(named).not.toContain('reasoning')
      }),
    )
  })
})
