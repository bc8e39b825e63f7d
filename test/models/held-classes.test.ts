import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { heldClasses } from '../../src/models/held-classes.ts'
import {
  costOf,
  inputClasses,
  outputClasses,
  type UsageClass,
  type UsageClasses,
} from '../../src/models/meter.ts'
import {
  chargedLines,
  holdLines,
  linesOf,
  makePrices,
  type Prices,
  type Rates,
  stepFor,
} from '../../src/models/rates.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { promise } from '../support/promise.ts'

const own = { inputPusd: 3_000_000n, outputPusd: 15_000_000n, requestNusd: 0n }
const rates: Rates = {
  cache_read: 300_000n,
  cache_write: 3_750_000n,
  cache_write_1h: 6_000_000n,
  audio_input: 40_000_000n,
  image_input: 5_000_000n,
  audio_output: 80_000_000n,
  image_output: 30_000_000n,
}
const prices = makePrices(own, { classes: rates, bands: [], tiers: [] })
const quiet = { billsCacheWrites: false }
const always = ['cache_read', 'reasoning', 'web_search']

const heldBy = (request: JsonObject, facts = quiet): string[] =>
  [...(heldClasses(prices, request, facts) ?? [])].filter((one) => !always.includes(one)).sort()

const user = (content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const text = (more: JsonObject = {}): JsonObject => ({ type: 'text', text: 'Hi.', ...more })
const mark = (ttl?: string): JsonObject => ({
  cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) },
})

promise`S3 C: A hold is for the classes that its request can use, and covers every report of them.`
describe('a hold is for the classes that its request can use', () => {
  const table: [what: string, request: JsonObject, held: string[]][] = [
    ['text alone uses none', user([text()]), []],
    ['a breakpoint writes to a cache', user([text(mark())]), ['cache_write']],
    ['one of five minutes too', user([text(mark('5m'))]), ['cache_write']],
    ['one of an hour to both', user([text(mark('1h'))]), ['cache_write', 'cache_write_1h']],
    [
      'a breakpoint may stand on a tool',
      { ...user([text()]), tools: [{ name: 'f', ...mark('1h') }] },
      ['cache_write', 'cache_write_1h'],
    ],
    ['or on the request', { ...user([text()]), ...mark() }, ['cache_write']],
    ['a text about breakpoints is none', user([text({ text: '"cache_control":{}' })]), []],
    ['a key of a cache may become one', { prompt_cache_key: 'a' }, ['cache_write']],
    ['a retention is longer', { prompt_cache_retention: '24h' }, ['cache_write', 'cache_write_1h']],
    ['an image is read', user([{ type: 'image_url', image_url: {} }]), ['image_input']],
    [
      'so is one in a result',
      user([{ type: 'tool_result', content: [{ type: 'image' }] }]),
      ['image_input'],
    ],
    ['sound is read', user([{ type: 'input_audio', input_audio: {} }]), ['audio_input']],
    ['sound is said on demand', { modalities: ['text', 'audio'] }, ['audio_output']],
    [
      'a stored answer can hold anything',
      { previous_response_id: 'resp_1' },
      [...Object.keys(rates).filter((one) => one !== 'cache_read')].sort(),
    ],
  ]
  for (const [what, request, held] of table) {
    test(what, () => expect(heldBy(request)).toEqual(held))
  }

  test('a server that bills what it caches unasked has the rate of writing held', () => {
    expect(heldBy(user([text()]), { billsCacheWrites: true })).toEqual(['cache_write'])
  })

  test('a model whose rates do not depend on the request is held for as a whole', () => {
    const plain = makePrices(own, { classes: { cache_read: 1n }, bands: [], tiers: [] })
    expect(heldClasses(plain, user([text()]), quiet)).toBeUndefined()
  })
})

const rate = fc.option(fc.bigInt({ min: 0n, max: 50n }), { nil: undefined })
const anyRates = fc
  .record(Object.fromEntries([...inputClasses, ...outputClasses].map((one) => [one, rate])))
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined)))
const anyPrices = fc
  .record({
    input: fc.bigInt({ min: 0n, max: 50n }),
    output: fc.bigInt({ min: 0n, max: 50n }),
    classes: anyRates,
    bands: fc.array(fc.record({ aboveInputTokens: fc.constantFrom(5, 20), rates: anyRates }), {
      maxLength: 2,
    }),
    tiers: fc.option(anyRates, { nil: undefined }),
  })
  .map(({ input, output, classes, bands, tiers }) =>
    makePrices(
      { inputPusd: input, outputPusd: output, requestNusd: 0n },
      { classes, bands, tiers: tiers ? [{ name: 'fast', rates: tiers }] : [] },
    ),
  )
const all: readonly UsageClass[] = [...inputClasses, ...outputClasses]
const anyHeld = fc.option(
  fc.subarray([...all]).map((some) => new Set<UsageClass>(['cache_read', 'reasoning', ...some])),
  { nil: undefined },
)
const count = fc.nat(20)
const anyReport = fc
  .record({ plain: count, said: count, ...Object.fromEntries(all.map((one) => [one, count])) })
  .map((units) => units as Record<string, number>)

const chatOf = (units: Record<string, number>) => {
  const of = (name: string) => units[name] ?? 0
  const sum = (names: readonly string[]) => names.reduce((so, name) => so + of(name), 0)
  return {
    prompt_tokens: of('plain') + sum(inputClasses) - of('cache_write_1h'),
    completion_tokens: of('said') + sum(outputClasses),
    prompt_tokens_details: {
      cached_tokens: of('cache_read'),
      cache_write_tokens: of('cache_write'),
      audio_tokens: of('audio_input'),
      image_tokens: of('image_input'),
    },
    completion_tokens_details: {
      reasoning_tokens: of('reasoning'),
      audio_tokens: of('audio_output'),
      image_tokens: of('image_output'),
    },
  }
}
const messageOf = (units: Record<string, number>) => ({
  input_tokens: units['plain'] ?? 0,
  output_tokens: units['said'] ?? 0,
  cache_read_input_tokens: units['cache_read'] ?? 0,
  cache_creation_input_tokens: (units['cache_write'] ?? 0) + (units['cache_write_1h'] ?? 0),
  cache_creation: {
    ephemeral_5m_input_tokens: units['cache_write'] ?? 0,
    ephemeral_1h_input_tokens: units['cache_write_1h'] ?? 0,
  },
})

const sides = { inputTokens: 30, outputTokens: 25, maxTokens: 25, n: 1, inputBytes: 30 }

promise`S3`
test('No report of any class costs more than was held.', () => {
  const tier = fc.constantFrom(undefined, 'fast')
  const report = fc.tuple(anyReport, fc.boolean(), tier, tier)
  fc.assert(
    fc.property(anyPrices, anyHeld, report, (prices, held, [units, isChat, asked, named]) => {
      const bound = { ...sides, held, tier: prices.card?.steps.has('fast') ? asked : undefined }
      const { usage } = decideUsage({
        bound,
        prices,
        reported: isChat ? chatOf(units) : messageOf(units),
        shape: isChat ? 'chat' : 'messages',
        tier: named,
        delivered: { inputBytes: 30, outputBytes: 25, output: [] },
        counting: { bytesPerToken: 4 },
        embedded: false,
      })
      const hold = costOf(holdLines(prices, 'chat', bound), 0)
      const { lines, isCapped } = chargedLines(prices, 'chat', usage, { hold, discountBps: 0 })
      expect(costOf(lines, 0) <= hold).toBe(true)
      // A hold that is enough never lowers the charge.
      if (!isCapped) expect(lines).toEqual(linesOf(prices, 'chat', usage))
    }),
    { numRuns: 2000 },
  )
})

/** The dearest run of one class of each side, with all of the input at any band. */
function dearest(prices: Prices, held: ReadonlySet<UsageClass>): bigint {
  let most = 0n
  const readings = [undefined, ...inputClasses.filter((one) => held.has(one))]
  const writings = [undefined, ...outputClasses.filter((one) => held.has(one))]
  for (const inputTokens of [1, 5, 6, 20, 21, sides.inputTokens]) {
    for (const read of readings) {
      for (const said of writings) {
        const classes: UsageClasses = {
          ...(read && { [read]: inputTokens }),
          ...(said && { [said]: sides.outputTokens }),
        }
        const usage = { inputTokens, outputTokens: sides.outputTokens, classes }
        const cost = costOf(linesOf(prices, 'chat', usage), 0)
        if (cost > most) most = cost
      }
    }
  }
  return most
}

test('A hold at rates without bands is the dearest run of the classes that are possible.', () => {
  const flat = anyPrices.filter(({ card }) => (card?.steps.get('')?.length ?? 1) === 1)
  fc.assert(
    fc.property(flat, anyHeld, (prices, some) => {
      const held = some ?? new Set(all)
      // A class without a rate costs the dearest of the others, which one of them has.
      const priced = new Set(
        [...held].filter((one) => stepFor(prices, sides).rates[one] !== undefined),
      )
      const hold = costOf(holdLines(prices, 'chat', { ...sides, held }), 0)
      expect(hold).toBe(dearest(prices, priced))
    }),
    { numRuns: 500 },
  )
})
