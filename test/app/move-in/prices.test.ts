import { describe, expect, test } from 'bun:test'
import { proposalOf } from '../../../src/cli/move-in/config-proposal.ts'
import type { ExactTable } from '../../../src/cli/move-in/found.ts'
import type { Gateway } from '../../../src/cli/move-in/read-source.ts'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import { now } from './plans.ts'
import { readTexts } from './texts.ts'

describe('prices and names that are not whole', () => {
  const proposal = async (
    gateway: Gateway,
    text: string | object,
    prices: object = {},
    contextTokens = 128_000,
  ) => {
    const found = await readTexts(gateway, text)
    const published = parseExactJson(JSON.stringify(prices)) as ExactTable
    const facts = { prices: published, contextTokens, now }
    const wish = { data: '/nowhere', markup: undefined, facts }
    const { added } = await proposalOf('', found, wish)
    const left = Object.fromEntries(found.misfits)
    return { added: added.map(({ id }) => id), left, entries: added }
  }
  const model = (name: string, params: string) =>
    `  - model_name: ${name}\n    litellm_params: { model: ${params} }\n`

  test('A model with one of its two own prices is left out, not sold at a published one.', async () => {
    const text = `model_list:\n${[
      model('half', 'openai/gpt-4o, input_cost_per_token: 9e-3'),
      model('other', 'openai/gpt-4o, output_cost_per_token: 9e-3'),
      model('whole', 'openai/gpt-4o, input_cost_per_token: 1e-3, output_cost_per_token: 9e-3'),
      model('usual', 'openai/gpt-4o'),
    ].join('')}`
    const { added, left, entries } = await proposal('litellm', text)
    expect(added).toEqual(['whole', 'usual'])
    expect(JSON.stringify(left)).toMatch(/half a price[^[]*\["half","other"\]/)
    expect(entries[0]).toMatchObject({ input_pusd: 1_000_000_000n })
  })

  test('A ratio of new-api without that of the output is half a price.', async () => {
    const options = [{ key: 'ModelRatio', value: '{"gpt-4o":9,"text-embedding-3-small":1}' }]
    const models = 'gpt-4o,text-embedding-3-small'
    const channels = [{ id: 1, type: 1, key: 'sk-a', status: 1, models, group: '' }]
    const { added, left } = await proposal('new-api', { channels, options })
    expect(added).toEqual(['text-embedding-3-small'])
    expect(JSON.stringify(left)).toContain('half a price')
  })

  test('A ratio of new-api below the published price of its server is not what a model is sold at.', async () => {
    const ratios = [
      { key: 'ModelRatio', value: '{"gpt-4o":0.01}' },
      { key: 'CompletionRatio', value: '{"gpt-4o":4000}' },
    ]
    const channel = { id: 1, type: 1, key: 'sk-a', status: 1, models: 'gpt-4o', group: '' }
    const { entries } = await proposal('new-api', { channels: [channel], options: ratios })
    expect(entries).toMatchObject([{ input_pusd: 2_500_000n, output_pusd: 80_000_000n }])
    const own = { ...channel, base_url: 'http://127.0.0.1:9' }
    const cheaper = await proposal('new-api', { channels: [own], options: ratios })
    expect(cheaper.entries).toMatchObject([{ input_pusd: 20_000n, output_pusd: 80_000_000n }])
    const calls = [{ key: 'ModelPrice', value: '{"gpt-4o":0.01}' }]
    const { added, left } = await proposal('new-api', { channels: [channel], options: calls })
    expect(added).toEqual([])
    expect(JSON.stringify(left)).toContain('a price of a call')
  })

  test('A name in several lines leaves its model out, and the others come over.', async () => {
    const text = `model_list:\n${[
      model('odd', '"openai/gpt\\n4o", input_cost_per_token: 1e-3, output_cost_per_token: 9e-3'),
      model('usual', 'openai/gpt-4o'),
    ].join('')}`
    const { added, left } = await proposal('litellm', text)
    expect(added).toEqual(['usual'])
    expect(Object.values(left).flat()).toContain('odd')
  })

  const price = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, mode: 'chat' }
  const bands = {
    ...{ ...price, input_cost_per_token_above_200k_tokens: 3e-6 },
    output_cost_per_token_above_200k_tokens: 4e-6,
  }

  test('A model keeps all bands of a published price, or is left out by name.', async () => {
    const text = `model_list:\n${model('long', 'openai/made-up')}`
    const limits = { max_input_tokens: 900_000, max_output_tokens: 8_000 }
    const kept = await proposal('litellm', text, { 'openai/made-up': { ...bands, ...limits } })
    expect(kept.entries[0]?.['bands']).toMatchObject([
      { above_input_tokens: 200_000n, input_pusd: 3_000_000n, output_pusd: 4_000_000n },
    ])
    const { added, left } = await proposal('litellm', text, { 'openai/made-up': bands })
    expect(added).toEqual([])
    expect(JSON.stringify(left)).toMatch(/half a price[^[]*\["long"\]/)
  })

  test('A price of its own loses no band of the published price that is dearer.', async () => {
    const own = 'input_cost_per_token: 2e-6, output_cost_per_token: 9e-6'
    const text = `model_list:\n${model('long', `openai/made-up, ${own}`)}`
    const limits = { max_input_tokens: 900_000, max_output_tokens: 8_000 }
    const { entries } = await proposal('litellm', text, {
      'openai/made-up': { ...bands, ...limits },
    })
    expect(entries[0]).toMatchObject({ input_pusd: 2_000_000n, output_pusd: 9_000_000n })
    expect(entries[0]?.['bands']).toEqual([
      { above_input_tokens: 200_000n, input_pusd: 3_000_000n, output_pusd: 9_000_000n },
    ])
  })

  const listPrice = 'input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5'
  const gemini = `model_list:\n${model('long', `gemini/gemini-2.5-pro, ${listPrice}`)}`

  test('A price of its own loses no band that the data of its provider has.', async () => {
    const { entries, left } = await proposal('litellm', gemini, {}, 1_048_576)
    expect(left).toEqual({})
    expect(entries).toMatchObject([{ input_pusd: 1_250_000n, output_pusd: 10_000_000n }])
    expect(entries[0]?.['bands']).toMatchObject([
      { above_input_tokens: 200_000n, input_pusd: 2_500_000n, output_pusd: 15_000_000n },
    ])
  })

  const audio = {
    ...{ mode: 'chat', max_input_tokens: 128_000, max_output_tokens: 16_384 },
    ...{ input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 },
    ...{ input_cost_per_audio_token: 1e-4, output_cost_per_audio_token: 2e-4 },
    ...{ supports_audio_input: true, supports_audio_output: true },
    ...{ cache_creation_input_token_cost: 3.75e-6, cache_read_input_token_cost: 3e-7 },
  }
  const own = 'input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5'
  const classes = {
    ...{ audio_input_pusd: 100_000_000n, audio_output_pusd: 200_000_000n },
    cache_write_pusd: 3_750_000n,
  }

  test.each([
    ['its provider', ''],
    ['a server of its own', ', api_base: "http://127.0.0.1:9/v1"'],
  ])('A price of its own at %s loses no dearer class of tokens.', async (_, more) => {
    const text = `model_list:\n${model('heard', `openai/made-up, ${own}${more}`)}`
    const { entries } = await proposal('litellm', text, { 'openai/made-up': audio })
    expect(entries).toMatchObject([classes])
  })

  test('A model with a price of its own is left out by name where the published bands lack limits.', async () => {
    const text = `model_list:\n${model('long', `openai/made-up, ${own}`)}`
    const { added, left } = await proposal('litellm', text, { 'openai/made-up': bands })
    expect(added).toEqual([])
    expect(JSON.stringify(left)).toMatch(/\["long"\]/)
  })
})
