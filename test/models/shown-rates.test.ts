import { describe, expect, test } from 'bun:test'
import { makeCatalogue } from '../../src/models/catalogue.ts'
import type { ModelConfig } from '../../src/models/model-config.ts'
import { priceText, rateSections, rateText } from '../../src/models/pages/shown-rates.ts'
import { isFree } from '../../src/models/rates.ts'

const plain: ModelConfig = {
  id: 'acme/one',
  route: ['local:one'],
  kind: 'chat',
  context_tokens: 1000,
  max_output_tokens: 100,
  input_pusd: 0,
  output_pusd: 0,
}

const modelOf = (more: Partial<ModelConfig> = {}) => {
  const models = [{ ...plain, ...more }]
  const model = makeCatalogue({ models, upstreamIds: ['local'] }).get('acme/one')
  if (!model) throw new Error('the model is not there')
  return model
}

describe('the price of a model in a line', () => {
  test.each<[Partial<ModelConfig>, string]>([
    [{}, 'free'],
    [{ request_nusd: 5_000_000 }, '$0.005 a run'],
    [{ input_pusd: 150_000, output_pusd: 600_000 }, '$0.15 in, $0.60 out per 1M'],
    [{ input_pusd: 1, request_nusd: 1 }, '$0.000001 in, $0.00 out per 1M, $0.000000001 a run'],
    [
      { input_pusd: 3_000_000, cache_read_pusd: 300_000, output_pusd: 15_000_000 },
      '$3.00 in, $0.30 cached, $15.00 out per 1M',
    ],
    [{ cache_read_pusd: 300_000 }, '$0.00 in, $0.30 cached, $0.00 out per 1M'],
    [
      { kind: 'embedding', max_output_tokens: 0, input_pusd: 20_000, output_pusd: undefined },
      '$0.02 in per 1M',
    ],
  ])('%o is told as %s', (more, words) => {
    expect(priceText(modelOf(more), 'per 1M')).toBe(words)
  })
})

describe('a free model', () => {
  test.each<[string, Partial<ModelConfig>]>([
    ['request', { request_nusd: 1 }],
    ['cache', { cache_write_pusd: 1 }],
    ['search', { web_search_nusd: 1 }],
    ['band', { bands: [{ above_input_tokens: 10, input_pusd: 1 }] }],
    ['tier', { tiers: [{ name: 'priority', output_pusd: 1 }] }],
  ])('has no price of a %s', (_, more) => {
    expect([isFree(modelOf().prices), isFree(modelOf(more).prices)]).toEqual([true, false])
  })
})

test('all rates are told: its own, then bands by rising input, then tiers', () => {
  const model = modelOf({
    ...{ input_pusd: 2_000_000, output_pusd: 8_000_000, request_nusd: 500_000 },
    ...{ cache_read_pusd: 200_000, web_search_nusd: 10_000_000 },
    bands: [
      { above_input_tokens: 500, input_pusd: 4_000_000 },
      { above_input_tokens: 100, input_pusd: 3_000_000, cache_read_pusd: 300_000 },
    ],
    tiers: [{ name: 'flex', output_pusd: 4_000_000 }],
  })
  const told = rateSections(model).map(({ when, rates }) => [
    when,
    rates.map((rate) => `${rate.meter} ${rateText(rate)}`),
  ])
  expect(told).toEqual([
    [
      undefined,
      [
        'input $2.00 per 1M tokens',
        'cache_read $0.20 per 1M tokens',
        'output $8.00 per 1M tokens',
        'web_search $0.01 a call',
        'request $0.0005 a run',
      ],
    ],
    ['Above 100 tokens of input', ['input $3.00 per 1M tokens', 'cache_read $0.30 per 1M tokens']],
    ['Above 500 tokens of input', ['input $4.00 per 1M tokens']],
    ['service_tier flex', ['output $4.00 per 1M tokens']],
  ])
})
