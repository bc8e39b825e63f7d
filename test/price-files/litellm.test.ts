import { describe, expect, test } from 'bun:test'
import { parseExactJson } from '../../src/kernel/exact-json.ts'
import { readLitellm } from '../../src/models/price-files/litellm.ts'
import { readMarkup, toEntry } from '../../src/models/price-files/price-entry.ts'
import { entriesOf, wish } from './wish.ts'

const litellm = (entries: string, without?: string[], only?: string) =>
  readLitellm(parseExactJson(`{${entries}}`), wish(without, only))

const chat = (id: string, more: string) =>
  `"${id}": {"litellm_provider": "acme", "mode": "chat", "max_input_tokens": 200000,
    "max_output_tokens": 64000, ${more}}`
const base = '"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05'

describe("LiteLLM's file", () => {
  test('every meter, band and tier gets its rate, exactly', () => {
    const file = litellm(
      chat(
        'acme/large',
        `${base}, "cache_read_input_token_cost": 3e-07,
        "cache_creation_input_token_cost": 3.75e-06,
        "cache_creation_input_token_cost_above_1hr": 6e-06,
        "input_cost_per_audio_token": 7e-06, "input_cost_per_image_token": 8e-06,
        "output_cost_per_reasoning_token": 1.6e-05, "output_cost_per_audio_token": 1.7e-05,
        "output_cost_per_image_token": 1.8e-05, "input_cost_per_request": 0.002,
        "search_context_cost_per_query": {"search_context_size_low": 0.03,
          "search_context_size_medium": 0.035, "search_context_size_high": 0.05},
        "input_cost_per_token_above_200k_tokens": 6e-06,
        "output_cost_per_token_above_200k_tokens": 2.25e-05,
        "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 1.2e-05,
        "input_cost_per_token_priority": 6e-06, "output_cost_per_token_priority": 3e-05,
        "output_cost_per_token_flex": 7.5e-06,
        "input_cost_per_token_batches": 1.5e-06,
        "supports_function_calling": true, "supports_vision": true, "rpm": 1000,
        "tool_use_system_prompt_tokens": 346, "source": "https://acme.example/prices",
        "supported_regions": ["global"], "metadata": {"notes": "0.5 off", "was": 4e-06},
        "file_search_cost_per_1k_calls": 0.0`,
      ),
    )
    expect(file.refused).toEqual([])
    expect(entriesOf(file)).toEqual([
      {
        id: 'acme/large',
        kind: 'chat',
        context_tokens: 200_000n,
        max_output_tokens: 64_000n,
        input_pusd: 3_000_000n,
        output_pusd: 15_000_000n,
        cache_read_pusd: 300_000n,
        cache_write_pusd: 3_750_000n,
        cache_write_1h_pusd: 6_000_000n,
        audio_input_pusd: 7_000_000n,
        image_input_pusd: 8_000_000n,
        reasoning_pusd: 16_000_000n,
        audio_output_pusd: 17_000_000n,
        image_output_pusd: 18_000_000n,
        request_nusd: 2_000_000n,
        web_search_nusd: 50_000_000n,
        features: ['streaming', 'tools', 'vision'],
        bands: [
          {
            above_input_tokens: 200_000n,
            input_pusd: 6_000_000n,
            output_pusd: 22_500_000n,
            cache_write_1h_pusd: 12_000_000n,
          },
        ],
        tiers: [
          { name: 'priority', input_pusd: 6_000_000n, output_pusd: 30_000_000n },
          { name: 'flex', output_pusd: 7_500_000n },
        ],
      },
    ])
  })

  test('a route takes the name that the provider knows; a markup adds the cost', () => {
    const file = litellm(`${chat('acme/large', base)}, ${chat('acme-small', base)}`)
    const [large, small] = entriesOf(file, 'up', '8%')
    expect(large?.['route']).toEqual([
      { to: 'up:large', cost: { input_pusd: 3_000_000n, output_pusd: 15_000_000n } },
    ])
    expect(large).toMatchObject({ input_pusd: 3_240_000n, output_pusd: 16_200_000n })
    expect(small?.['route']).toEqual([
      { to: 'up:acme-small', cost: { input_pusd: 3_000_000n, output_pusd: 15_000_000n } },
    ])
    expect(entriesOf(file, 'up')[0]?.['route']).toEqual(['up:large'])
  })

  test('bands and tiers are in the cost too, and a rate between two pUSD is rounded up', () => {
    const file = litellm(
      chat(
        'a',
        `"input_cost_per_token": 1.0000001e-06, "output_cost_per_token": 1e-06,
        "input_cost_per_token_above_200k_tokens": 2e-06, "input_cost_per_token_priority": 3e-06`,
      ),
    )
    const [model] = file.models
    const made = model && toEntry(model, { upstream: 'up', factor: readMarkup('10%') })
    expect(made).toMatchObject({ rates: 4, rounded: 1 })
    expect(made?.entry).toMatchObject({
      input_pusd: 1_100_001n,
      bands: [{ above_input_tokens: 200_000n, input_pusd: 2_200_000n }],
      tiers: [{ name: 'priority', input_pusd: 3_300_000n }],
      route: [
        {
          cost: {
            input_pusd: 1_000_001n,
            bands: [{ above_input_tokens: 200_000n, input_pusd: 2_000_000n }],
            tiers: [{ name: 'priority', input_pusd: 3_000_000n }],
          },
        },
      ],
    })
  })

  test.each([
    ['input_cost_per_image', '0.0013'],
    ['output_cost_per_second', '1e-4'],
    ['code_interpreter_cost_per_session', '0.03'],
    ['input_cost_per_token_above_2_hours', '1e-6'],
    ['regional_processing_uplift_multiplier_eu', '1.1'],
    ['a_rate_of_next_year', '0.5'],
    ['input_cost_per_token_above_200k_tokens_turbo', '1e-6'],
    ['output_cost_per_image_token', '-1e-6'],
    ['output_cost_per_image_token', '"dear"'],
    ['cache_read_input_token_cost', '1e-999'],
  ])('a price without a meter is refused by its name: %s of %s', (name, value) => {
    const file = litellm(`${chat('a', `${base}, "${name}": ${value}`)}, ${chat('b', base)}`)
    expect(file.refused).toEqual([{ id: 'a', dimensions: [name] }])
    expect(file.models.map(({ id }) => id)).toEqual(['b'])
    const knowingly = litellm(chat('a', `${base}, "${name}": ${value}`), [name])
    expect(knowingly.refused).toEqual([])
  })

  test('so is one inside of an object, by its path', () => {
    const inner = '"provider_specific_entry": {"fast": 6.0, "deep": [{"cost": 1}]}'
    expect(litellm(chat('a', `${base}, ${inner}`)).refused).toEqual([
      {
        id: 'a',
        dimensions: ['provider_specific_entry.fast', 'provider_specific_entry.deep.0.cost'],
      },
    ])
  })

  test('a tier inside of a band is taken where it costs the dearer of both, and else refused', () => {
    const both = (price: string) =>
      chat(
        'a',
        `${base}, "input_cost_per_token_above_272k_tokens": 6e-06,
        "input_cost_per_token_priority": 9e-06,
        "input_cost_per_token_above_272k_tokens_priority": ${price}`,
      )
    expect(litellm(both('9e-06')).refused).toEqual([])
    const name = 'input_cost_per_token_above_272k_tokens_priority'
    expect(litellm(both('1.2e-05')).refused).toEqual([{ id: 'a', dimensions: [name] }])
    const [without] = litellm(both('1.2e-05'), ['priority']).models
    expect(without?.tiers).toEqual([])
    expect(without?.bands).toHaveLength(1)
  })

  test('ranges of the input become bands, the first of them the rates of the model', () => {
    const ranges = `"tiered_pricing": [
      {"range": [0, 256000], "input_cost_per_token": 5e-08, "output_cost_per_token": 4e-07},
      {"range": [256000, 1000000], "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06}]`
    const [entry] = entriesOf(litellm(chat('a', ranges)))
    expect(entry).toMatchObject({
      input_pusd: 50_000n,
      output_pusd: 400_000n,
      bands: [{ above_input_tokens: 256_000n, input_pusd: 250_000n, output_pusd: 2_000_000n }],
    })
    const odd = `${base}, "tiered_pricing": [{"range": [0, 10], "input_cost_per_query": 0.1}]`
    expect(litellm(chat('a', odd)).refused).toEqual([
      { id: 'a', dimensions: ['tiered_pricing.input_cost_per_query'] },
    ])
  })

  test('models of other kinds, without a price or without limits are left out, each with why', () => {
    const file = litellm(`
      "sample_spec": {"mode": "one of: chat, …"},
      "paint": {"mode": "image_generation", "output_cost_per_image": 0.04},
      "draw": {"mode": "image_generation"}, "sort": {"mode": "rerank"}, "odd": {},
      "with space": {"mode": "chat", ${base}, "max_input_tokens": 5, "max_output_tokens": 5},
      ${chat('free?', '"output_cost_per_token": 1e-06')},
      "short": {"mode": "chat", ${base}}`)
    expect(file.models).toEqual([])
    expect(Object.fromEntries(file.leftOut)).toEqual({
      'mode image_generation': 2,
      'mode rerank': 1,
      'no mode': 1,
      'an id that is none here': 1,
      'no price of input': 1,
      'no max_input_tokens': 1,
    })
  })

  test('an embedding has a price of reading; any other is refused', () => {
    const embedding = (more: string) =>
      `"vec": {"mode": "embedding", "max_input_tokens": 8191, "input_cost_per_token": 2e-08${more}}`
    expect(entriesOf(litellm(embedding(', "output_cost_per_token": 0.0')))).toEqual([
      { id: 'vec', kind: 'embedding', context_tokens: 8191n, input_pusd: 20_000n },
    ])
    expect(litellm(embedding(', "input_cost_per_image": 0.0001')).refused).toHaveLength(1)
    expect(litellm(embedding(', "output_cost_per_token": 1e-08')).refused).toHaveLength(1)
  })

  test('a class at 0 has no rate of its own: what it costs is the fallback', () => {
    const [entry] = entriesOf(litellm(chat('a', `${base}, "cache_read_input_token_cost": 0.0`)))
    expect(entry).not.toHaveProperty('cache_read_pusd')
  })

  test('only what was asked for is looked at', () => {
    const file = litellm(`${chat('a1', base)}, ${chat('b1', base)}, "b2": {}`, [], 'a')
    expect(file.models.map(({ id }) => id)).toEqual(['a1'])
    expect(file.leftOut.size).toBe(0)
  })

  test('a file of another shape is refused', () => {
    expect(() => readLitellm([], wish())).toThrow('not an object of models')
  })
})
