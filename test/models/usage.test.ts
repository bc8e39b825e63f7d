import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../src/kernel/canonical.ts'
import { decideUsage, type UsageClaim } from '../../src/models/usage.ts'
import { promise } from '../support/promise.ts'

const bound = { inputTokens: 100, outputTokens: 50, maxTokens: 50, n: 1, inputBytes: 90 }
const prices = { inputPusd: 1n, outputPusd: 1n, requestNusd: 0n }
const delivered = { inputBytes: 61, outputBytes: 25, output: [] }
const counting = { bytesPerToken: 4 }

function decide(
  reported: Json | undefined,
  change: Partial<typeof delivered> = {},
  more: Partial<UsageClaim> = {},
) {
  const passed = { ...delivered, ...change }
  const claim = { bound, prices, reported, delivered: passed, counting, embedded: false }
  const { usage, source, clamped } = decideUsage({ ...claim, ...more })
  return [usage.inputTokens, usage.outputTokens, source, clamped]
}

describe('a reported usage', () => {
  const counted = [16, 7, 'counted', false]
  const table: [what: string, reported: Json | undefined, decided: unknown[]][] = [
    [
      'that can be true is taken',
      { prompt_tokens: 9, completion_tokens: 7 },
      [9, 7, 'reported', false],
    ],
    [
      'at its bounds is taken',
      { prompt_tokens: 100, completion_tokens: 50 },
      [100, 50, 'reported', false],
    ],
    [
      'above its bounds is clamped',
      { prompt_tokens: 101, completion_tokens: 51 },
      [100, 50, 'reported', true],
    ],
    [
      'ten times too high is clamped',
      { prompt_tokens: 9, completion_tokens: 500 },
      [9, 50, 'reported', true],
    ],
    ['that is negative is counted', { prompt_tokens: -9, completion_tokens: -7 }, counted],
    [
      'that is fractional is rounded up',
      { prompt_tokens: 9.5, completion_tokens: 7.5 },
      [10, 8, 'reported', false],
    ],
    ['that is text is counted', { prompt_tokens: '9', completion_tokens: '7' }, counted],
    ['of 2^60 is counted', { prompt_tokens: 2 ** 60, completion_tokens: 2 ** 60 }, counted],
    ['of NaN is counted', { prompt_tokens: Number.NaN, completion_tokens: Number.NaN }, counted],
    ['that is missing is counted', undefined, counted],
    ['that is null is counted', null, counted],
    ['that is not an object is counted', [9, 7], counted],
    ['with half missing is counted there', { prompt_tokens: 9 }, [9, 7, 'counted', false]],
    [
      'of no output beside some is counted',
      { prompt_tokens: 9, completion_tokens: 0 },
      [9, 7, 'counted', false],
    ],
    [
      'of one token beside more output is taken',
      { prompt_tokens: 1, completion_tokens: 1 },
      [1, 1, 'reported', false],
    ],
    ['of zeros alone is counted', { prompt_tokens: 0, completion_tokens: 0 }, counted],
    ['of no input is taken', { prompt_tokens: 0, completion_tokens: 7 }, [0, 7, 'reported', false]],
  ]
  for (const [what, reported, decided] of table) {
    test(what, () => {
      expect<unknown[]>(decide(reported)).toEqual(decided)
    })
  }

  test('of minus zero is zero', () => {
    const [input] = decide({ prompt_tokens: -0, completion_tokens: 7 })
    expect(Object.is(input, 0)).toBe(true)
  })

  test('by a built-in model is our own count', () => {
    const reported = { prompt_tokens: 9, completion_tokens: 7 }
    expect(decide(reported, {}, { embedded: true })[2]).toBe('embedded')
  })
})

describe('counting', () => {
  test('is a token for each four bytes, rounded up, or for as many as the model says', () => {
    expect(decide(undefined, { outputBytes: 24 })).toEqual([16, 6, 'counted', false])
    expect(decide(undefined, { outputBytes: 25 })).toEqual([16, 7, 'counted', false])
    const own = { counting: { bytesPerToken: 2.5 } }
    expect(decide(undefined, { outputBytes: 25 }, own)).toEqual([25, 10, 'counted', false])
  })

  test('of what was read has a number of its own where the reported runs gave it one', () => {
    const own = { counting: { bytesPerToken: 2.5, readBytesPerToken: 6.1 } }
    expect(decide(undefined, {}, own)).toEqual([10, 10, 'counted', false])
  })

  test('a beginning that was reported before is of the tokens that were reported', () => {
    const whole = { tokens: 30, bytes: 51, media: 0 }
    const known = { whole, cached: 28, share: 0.9 }
    const claim = { bound, prices, reported: undefined, delivered, counting, embedded: false }
    expect(decideUsage({ ...claim, known }).usage).toEqual({
      inputTokens: 33,
      outputTokens: 7,
      classes: { cache_read: 28 },
    })
  })

  test('no more of a cache is taken as read than is the same as before', () => {
    const claim = { bound, prices, reported: undefined, delivered, counting, embedded: false }
    const known = { cached: 500, share: 0.5 }
    const { usage } = decideUsage({ ...claim, known })
    expect([usage.inputTokens, usage.classes]).toEqual([16, { cache_read: 8 }])
  })

  test('it stops at the bound and says so', () => {
    expect(decide(undefined, { outputBytes: 201 })).toEqual([16, 50, 'counted', true])
  })

  test('input is at least one token', () => {
    expect(decide(undefined, { inputBytes: 0 })).toEqual([1, 7, 'counted', false])
  })

  test('where nothing visible came out, what is reported is believed up to the bound', () => {
    const nothing = { outputBytes: 0 }
    expect(decide(undefined, nothing)).toEqual([16, 0, 'counted', false])
    const hidden = (tokens: number) =>
      decide({ prompt_tokens: 9, completion_tokens: tokens }, nothing)
    expect(hidden(7)).toEqual([9, 7, 'reported', false])
    expect(hidden(0)).toEqual([9, 0, 'reported', false])
    expect(hidden(70)).toEqual([9, 50, 'reported', true])
  })

  test('reasoning that is only in the total counts as output', () => {
    const xai = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 45 }
    const details = { completion_tokens_details: { reasoning_tokens: 30 } }
    expect(decide({ ...xai, ...details })).toEqual([10, 35, 'reported', false])
    expect(decide(xai)).toEqual([10, 35, 'reported', false])
    expect(decide({ ...xai, total_tokens: 4500 })).toEqual([10, 50, 'reported', true])
    // Some servers leave cached tokens out of prompt_tokens; they must not count as output.
    const cached = { ...xai, prompt_tokens_details: { cached_tokens: 30 } }
    expect(decide(cached)).toEqual([40, 5, 'reported', false])
    expect(decide({ ...cached, total_tokens: 50 }).slice(0, 2)).toEqual([10, 40])
    for (const total_tokens of [15, 3, -1, 'many', null]) {
      expect(decide({ ...xai, total_tokens })).toEqual([10, 5, 'reported', false])
    }
  })

  test('a report that output followed holds for the input, and is the least of the output', () => {
    const old = (tokens: number) =>
      decide({ prompt_tokens: 9, completion_tokens: tokens }, {}, { isOutdated: true })
    expect(old(1)).toEqual([9, 7, 'counted', false])
    expect(old(20)).toEqual([9, 20, 'counted', false])
  })
})

test('an embedding has no output and needs none reported', () => {
  const embedding = { ...bound, outputTokens: 0, maxTokens: 0 }
  const reported = { prompt_tokens: 9, completion_tokens: 7 }
  for (const usage of [reported, { prompt_tokens: 9 }]) {
    expect(
      decideUsage({
        ...{ bound: embedding, prices, reported: usage },
        ...{ delivered, counting, embedded: false },
      }),
    ).toEqual({
      usage: { inputTokens: 9, outputTokens: 0 },
      source: 'reported',
      clamped: false,
    })
  }
})

promise`D8`
test('no report and no delivery leads above the bound or to anything but a count', () => {
  const json = fc.jsonValue() as fc.Arbitrary<Json>
  const reported = fc.oneof(json, fc.record({ prompt_tokens: json, completion_tokens: json }))
  const count = fc.maxSafeNat()
  fc.assert(
    fc.property(reported, count, count, fc.boolean(), (said, inputBytes, outputBytes, is) => {
      const claim = { inputBytes, outputBytes, output: [] }
      const { usage } = decideUsage({
        bound,
        prices,
        reported: said,
        delivered: claim,
        counting,
        isOutdated: !is,
        embedded: false,
      })
      // No report makes output free.
      if (outputBytes > 0) expect(usage.outputTokens).toBeGreaterThan(0)
      for (const [tokens, most] of [
        [usage.inputTokens, bound.inputTokens],
        [usage.outputTokens, bound.outputTokens],
      ] as const) {
        expect(Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= most).toBe(true)
      }
    }),
  )
})
