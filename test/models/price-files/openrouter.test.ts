import { describe, expect, test } from 'bun:test'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import { readOpenrouter } from '../../../src/models/price-files/openrouter.ts'
import { promise } from '../../support/promise.ts'
import { entriesOf, wish } from './wish.ts'

const openrouter = (entries: string, without?: string[]) =>
  readOpenrouter(parseExactJson(`{"data": [${entries}]}`), wish(without))
const listed = (pricing: string, more = '') => `{"id": "acme/large", "name": "Acme: Large",
  "context_length": 200000, "architecture": {"input_modalities": ["text", "image"],
  "output_modalities": ["text"]}, "top_provider": {"max_completion_tokens": 64000},
  "supported_parameters": ["tools", "reasoning"], ${more} "pricing": {${pricing}}}`
const prices = '"prompt": "0.000003", "completion": "0.000015"'

describe("OpenRouter's list", () => {
  test('every meter and override gets its rate, exactly', () => {
    const file = openrouter(
      listed(`${prices}, "request": "0.001", "image": "0", "web_search": "0.01",
        "internal_reasoning": "0.000016", "input_cache_read": "3e-7",
        "input_cache_write": "0.00000375", "input_cache_write_1h": "0.000006",
        "audio": "0.000007", "audio_output": "0.000017", "image_token": "0.000008",
        "image_output": "0.000018", "discount": 0,
        "overrides": [{"min_prompt_tokens": 200001, "prompt": "0.000006", "completion": "0.0000225"}]`),
    )
    expect(entriesOf(file, 'up')).toEqual([
      {
        id: 'acme/large',
        name: 'Acme: Large',
        kind: 'chat',
        context_tokens: 200_000n,
        max_output_tokens: 64_000n,
        input_pusd: 3_000_000n,
        output_pusd: 15_000_000n,
        request_nusd: 1_000_000n,
        web_search_nusd: 10_000_000n,
        reasoning_pusd: 16_000_000n,
        cache_read_pusd: 300_000n,
        cache_write_pusd: 3_750_000n,
        cache_write_1h_pusd: 6_000_000n,
        audio_input_pusd: 7_000_000n,
        audio_output_pusd: 17_000_000n,
        image_output_pusd: 18_000_000n,
        features: ['streaming', 'tools', 'reasoning'],
        route: ['up:acme/large'],
        bands: [{ above_input_tokens: 200_000n, input_pusd: 6_000_000n, output_pusd: 22_500_000n }],
      },
    ])
  })

  promise`O6`
  test.each([
    ['image', '"0.0048"', 'image'],
    ['input_audio_cache', '"0.0000001"', 'input_audio_cache'],
    ['discount', '0.1', 'discount'],
    ['per_moon', '"1"', 'per_moon'],
    ['overrides', '[{"min_prompt_tokens": 1000, "per_moon": "1"}]', 'overrides.per_moon'],
    ['overrides', '[{"after_midnight": true, "prompt": "1"}]', 'overrides'],
    ['overrides', '[{"min_prompt_tokens": 1000, "request": "1"}]', 'overrides.request'],
    ['input_cache_read', '"cheap"', 'input_cache_read'],
  ])('a price without a meter is refused by its name: %s of %s', (name, value, dimension) => {
    const entry = listed(`${prices}, "${name}": ${value}`)
    expect(openrouter(entry).refused).toEqual([{ id: 'acme/large', dimensions: [dimension] }])
    expect(openrouter(entry, [dimension]).refused).toEqual([])
  })

  test('prices that vary, other outputs and missing limits are left out, each with why', () => {
    const paints = listed(prices).replace(
      '"output_modalities": ["text"]',
      '"output_modalities": ["image"]',
    )
    const file = openrouter(
      [
        listed('"prompt": "-1", "completion": "-1"'),
        paints,
        listed(prices).replace('200000', 'null'),
        listed('"completion": "1"'),
        listed(prices).replace('acme/large', '~acme/latest'),
      ].join(','),
    )
    expect(file.models).toEqual([])
    expect(Object.fromEntries(file.leftOut)).toEqual({
      'a price that varies (-1)': 1,
      'output that is neither text nor embeddings': 1,
      'no context_length': 1,
      'no price of input': 1,
      'an id that is none here': 1,
    })
  })

  test('an answer is as long as the context where no limit is told', () => {
    const [entry] = entriesOf(openrouter(listed(prices).replace('64000', 'null')))
    expect(entry?.['max_output_tokens']).toBe(200_000n)
  })

  test('a file of another shape is refused', () => {
    expect(() => readOpenrouter({ models: [] }, wish())).toThrow('"data"')
  })
})
