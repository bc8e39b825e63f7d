import { describe, expect, test } from 'bun:test'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import { readModelsDev } from '../../../src/models/price-files/models-dev.ts'
import { promise } from '../../support/promise.ts'
import { entriesOf, wish } from './wish.ts'

const file = (cost: string, more = '', without?: string[]) =>
  readModelsDev(
    parseExactJson(`{"acme": {"id": "acme", "models": {"large": {"id": "large", "name": "Large",
      "tool_call": true, "reasoning": true, ${more} "limit": {"context": 400000, "output": 64000},
      "modalities": {"input": ["text"], "output": ["text"]}, "cost": {${cost}}}}}}`),
    wish(without),
  )
const base = '"input": 2.5, "output": 15'

describe("models.dev's file", () => {
  test('every meter and band gets its rate, exactly', () => {
    const prices = `${base}, "cache_read": 0.25, "cache_write": 3.125, "input_audio": 5,
      "context_over_200k": {"input": 5, "output": 22.5}`
    expect(entriesOf(file(prices), 'up')).toEqual([
      {
        ...{ id: 'acme/large', name: 'Large', kind: 'chat' },
        ...{ context_tokens: 400_000n, max_output_tokens: 64_000n },
        ...{ input_pusd: 2_500_000n, output_pusd: 15_000_000n },
        ...{ cache_read_pusd: 250_000n, cache_write_pusd: 3_125_000n },
        audio_input_pusd: 5_000_000n,
        features: ['streaming', 'tools', 'reasoning'],
        route: ['up:large'],
        bands: [
          {
            ...{ above_input_tokens: 200_000n, input_pusd: 5_000_000n, output_pusd: 22_500_000n },
            ...{ cache_read_pusd: 250_000n, cache_write_pusd: 3_125_000n },
            audio_input_pusd: 5_000_000n,
          },
        ],
      },
    ])
  })

  promise`O6`
  test.each([
    ['"per_moon": 1', 'per_moon'],
    ['"cache_read": "cheap"', 'cache_read'],
    ['"context_over_200k": {"per_moon": 1}', 'context_over_200k.per_moon'],
    ['"context_over_200k": 7', 'context_over_200k'],
  ])('a price without a meter is refused by its name: %s', (price, dimension) => {
    const { models, refused } = file(`${base}, ${price}`)
    expect([models.length, refused]).toEqual([0, [{ id: 'acme/large', dimensions: [dimension] }]])
    expect(file(`${base}, ${price}`, '', [dimension]).models).toHaveLength(1)
  })

  test('a model without a price or a context is left out and counted', () => {
    expect(file('"output": 1').leftOut).toEqual(new Map([['no price of input', 1]]))
    expect(file('"input": 1').leftOut).toEqual(new Map([['no price of output', 1]]))
    const unlimited = parseExactJson('{"acme": {"models": {"a": {"cost": {"input": 1}}}}}')
    expect(readModelsDev(unlimited, wish()).leftOut).toEqual(new Map([['no limit.context', 1]]))
  })

  test.each(['[]', '{}', '{"acme": {"id": "acme"}}'])('%s is another file', (text) => {
    expect(() => readModelsDev(parseExactJson(text), wish())).toThrow()
  })
})
