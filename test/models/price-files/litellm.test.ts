import { describe, expect, test } from 'bun:test'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import { readLitellm } from '../../../src/models/price-files/litellm.ts'
import { readMarkup, toEntry } from '../../../src/models/price-files/price-entry.ts'
import { promise } from '../../support/promise.ts'
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
        total_tokens_max: 264_000n,
        max_output_tokens: 64_000n,
        input_pusd: 3_000_000n,
        output_pusd: 15_000_000n,
        cache_read_pusd: 300_000n,
        cache_write_pusd: 3_750_000n,
        cache_write_1h_pusd: 6_000_000n,
        audio_input_pusd: 7_000_000n,
        reasoning_pusd: 16_000_000n,
        audio_output_pusd: 17_000_000n,
        image_output_pusd: 18_000_000n,
        request_nusd: 2_000_000n,
        web_search_nusd: 50_000_000n,
        features: ['streaming', 'tools'],
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

  promise`O6`
  test.each([
    ['input_cost_per_image', '0.0013'],
    ['output_cost_per_second', '1e-4'],
    ['code_interpreter_price', '0.03'],
    ['input_cost_per_token_above_2_hours', '1e-6'],
    ['long_context_multiplier', '1.1'],
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

  test('a model that may write pictures is refused for a price of whole ones', () => {
    for (const says of ['', '"supported_output_modalities": ["text", "image"], ']) {
      const file = litellm(chat('a', `${base}, ${says}"output_cost_per_image": 0.00012`))
      expect(file.refused).toEqual([{ id: 'a', dimensions: ['output_cost_per_image'] }])
    }
  })

  test('so is one inside of an object, by its path', () => {
    const inner = '"provider_specific_entry": {"fast": 6.0, "deep": [{"cost": 1}], "per_moon": 2}'
    expect(litellm(chat('a', `${base}, ${inner}`)).refused).toEqual([
      {
        id: 'a',
        dimensions: ['provider_specific_entry.deep.0.cost', 'provider_specific_entry.per_moon'],
      },
    ])
  })

  test.each([
    ['"provider_specific_entry": {"us": 1.1}', 'provider_specific_entry.us'],
    ['"provider_specific_entry": {"inference_geo": 1.1}', 'provider_specific_entry.inference_geo'],
    ['"regional_processing_uplift_multiplier_eu": 1.1', 'regional_processing_uplift_multiplier_eu'],
    ['"code_interpreter_cost_per_session": 0.03', 'code_interpreter_cost_per_session'],
    ['"file_search_cost_per_gb_per_day": 0.1', 'file_search_cost_per_gb_per_day'],
    ['"output_cost_per_token_batches": 1e-06', 'output_cost_per_token_batches'],
    ['"input_cost_per_video_per_second": 0.002', 'input_cost_per_video_per_second'],
    [
      '"input_cost_per_audio_per_second_above_128k_tokens": 0.002',
      'input_cost_per_audio_per_second_above_128k_tokens',
    ],
    [
      '"supported_output_modalities": ["text"], "output_cost_per_image": 0.00012',
      'output_cost_per_image',
    ],
  ])('A price that no request can use is named and refuses no model: %s', (price, name) => {
    const { models, refused } = litellm(chat('a', `${base}, ${price}`))
    expect(refused).toEqual([])
    expect(models[0]?.notes).toEqual([`Ignored, because no request here can ask for it: ${name}`])
  })

  test('a model of the Responses API is one to chat with, and its note names the kind of upstream', () => {
    const file = litellm(chat('a', base).replace('"mode": "chat"', '"mode": "responses"'))
    expect(entriesOf(file)[0]).toMatchObject({ id: 'a', kind: 'chat', max_output_tokens: 64_000n })
    expect(file.models[0]?.notes).toEqual([expect.stringContaining('kind = "responses"')])
  })

  test.each([
    [272_000, 128_000, { context_tokens: 400_000n }],
    [1_048_576, 65_536, { context_tokens: 1_048_576n, total_tokens_max: 1_114_112n }],
    [8192, 8192, { context_tokens: 8192n, total_tokens_max: 16_384n }],
  ])('limits of %d in and %d out are both within the context', (input, output, limits) => {
    const entry = chat('a', base).replace('200000', `${input}`).replace('64000', `${output}`)
    const [made] = entriesOf(litellm(entry))
    expect(made).toMatchObject({ ...limits, max_output_tokens: BigInt(output) })
    expect(made).toHaveProperty('context_tokens')
    expect('total_tokens_max' in (made ?? {})).toBe('total_tokens_max' in limits)
  })

  test.each([
    ['anthropic/claude-opus-4-7', 4784n],
    ['bedrock/us.anthropic.claude-3-5-haiku-20241022-v1:0', 1600n],
    ['azure/gpt-4o-2024-11-20', 1445n],
    ['gpt-4o-mini', 48_169n],
    ['openai/gpt-5.1-codex', 3779n],
    ['gpt-9', 24_600n],
    ['vertex_ai/gemini-9-pro', 2580n],
    ['acme/eyes', undefined],
  ])('an image of %s has the bound that its provider publishes', (id, tokens) => {
    const rates = '"supports_vision": true, "input_cost_per_image_token": 8e-06'
    const [entry] = entriesOf(litellm(chat(id, `${base}, ${rates}`)))
    expect(entry?.['image_tokens_max']).toBe(tokens as bigint)
    expect(entry?.['image_input_pusd']).toBe(tokens && 8_000_000n)
    const features = entry?.['features'] as string[]
    expect(features.includes('vision')).toBe(tokens !== undefined)
  })

  test('a tier inside of a band is taken where it costs the dearer of both, and else left out', () => {
    const both = (price: string) =>
      chat(
        'a',
        `${base}, "input_cost_per_token_above_272k_tokens": 6e-06,
        "input_cost_per_token_priority": 9e-06,
        "input_cost_per_token_above_272k_tokens_priority": ${price}`,
      )
    expect(litellm(both('9e-06')).refused).toEqual([])
    const name = 'input_cost_per_token_above_272k_tokens_priority'
    const [without] = litellm(both('1.2e-05')).models
    expect(without?.notes).toEqual([
      `Left out, so that no request can ask for it: the tier priority, for ${name}`,
    ])
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
    const pictures = litellm(embedding(', "input_cost_per_image": 0.0001'))
    expect([pictures.refused, pictures.models[0]?.notes]).toEqual([
      [],
      ['Ignored, because no request here can ask for it: input_cost_per_image'],
    ])
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
