import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readModels } from '../../../src/config/model-entries.ts'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import { boundOf } from '../../../src/models/bound.ts'
import { makeCatalogue } from '../../../src/models/catalogue.ts'
import { costOf, type Usage } from '../../../src/models/meter.ts'
import type { Model } from '../../../src/models/model.ts'
import { readLitellm } from '../../../src/models/price-files/litellm.ts'
import { readOpenrouter } from '../../../src/models/price-files/openrouter.ts'
import type { PriceFile } from '../../../src/models/price-files/price-file.ts'
import { linesOf } from '../../../src/models/rates.ts'
import { holdOf } from '../../../src/runs/fit.ts'
import { nightly } from '../../support/nightly.ts'
import { entriesOf, wish } from './wish.ts'

/** Limits and prices of a model, as both formats can write them. */
type Made = {
  input: number
  output: number
  prices: { input: number; output: number; read: number; write: number; image: number }
  /** How much dearer a run is above so many tokens of input. */
  band: { above: number; times: number } | undefined
  name: string
}

const made: fc.Arbitrary<Made> = fc.record({
  input: fc.integer({ min: 2, max: 2_000_000 }),
  output: fc.integer({ min: 1, max: 300_000 }),
  prices: fc.record({
    input: fc.integer({ min: 1, max: 90_000 }),
    output: fc.integer({ min: 1, max: 90_000 }),
    read: fc.integer({ min: 1, max: 90_000 }),
    write: fc.integer({ min: 1, max: 90_000 }),
    image: fc.integer({ min: 1, max: 90_000 }),
  }),
  band: fc.option(
    fc.record({ above: fc.integer({ min: 1, max: 300 }), times: fc.integer({ min: 2, max: 4 }) }),
    { nil: undefined },
  ),
  name: fc.constantFrom('claude-opus-9', 'gpt-4o', 'gemini-4-pro', 'other'),
})

/** USD a token, of nano-USD. */
const usd = (nano: number): string => `${nano}e-9`

const litellmOf = ({ input, output, prices, band, name }: Made): string =>
  JSON.stringify({
    [name]: {
      mode: 'chat',
      max_input_tokens: input,
      max_output_tokens: output,
      supports_vision: true,
      input_cost_per_token: usd(prices.input),
      output_cost_per_token: usd(prices.output),
      cache_read_input_token_cost: usd(prices.read),
      cache_creation_input_token_cost: usd(prices.write),
      input_cost_per_image_token: usd(prices.image),
      provider_specific_entry: { fast: '6', us: '1.1' },
      ...(band && {
        [`input_cost_per_token_above_${band.above}k_tokens`]: usd(prices.input * band.times),
        [`output_cost_per_token_above_${band.above}k_tokens`]: usd(prices.output * band.times),
      }),
    },
  })

const openrouterOf = ({ input, output, prices, band, name }: Made): string =>
  JSON.stringify({
    data: [
      {
        id: `acme/${name}`,
        context_length: input + output,
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        top_provider: { max_completion_tokens: output },
        pricing: {
          prompt: usd(prices.input),
          completion: usd(prices.output),
          input_cache_read: usd(prices.read),
          input_cache_write: usd(prices.write),
          image_token: usd(prices.image),
          ...(band && {
            overrides: [
              {
                ...{ min_prompt_tokens: band.above * 1000 + 1 },
                prompt: usd(prices.input * band.times),
                completion: usd(prices.output * band.times),
              },
            ],
          }),
        },
      },
    ],
  })

/** `"1e-9"` as the number that LiteLLM has. */
const unquoted = (json: string): string => json.replaceAll(/"(\d+e-9)"/g, '$1')

const formats: [format: string, read: (of: Made) => PriceFile][] = [
  ['LiteLLM', (of) => readLitellm(parseExactJson(unquoted(litellmOf(of))), wish())],
  [
    'OpenRouter',
    (of) =>
      readOpenrouter(
        parseExactJson(unquoted(openrouterOf(of)).replaceAll(/:(\d+e-9)/g, ':"$1"')),
        wish(),
      ),
  ],
]

const modelOf = (file: PriceFile): Model => {
  const [entry] = entriesOf(file, 'up', '1%')
  const problems: string[] = []
  const { get } = makeCatalogue({ models: readModels([entry], problems), upstreamIds: ['up'] })
  expect(problems).toEqual([])
  const model = get(entry?.id ?? '')
  if (!model) throw new Error('the model was not imported')
  return model
}

/** Every run at a corner of the limits: nothing or all of each, in one class. */
function* cornersOf({ input, output }: Made, model: Model): Generator<Usage> {
  const image = model.imageTokensMax === undefined ? [] : (['image_input'] as const)
  for (const inputTokens of [1, input]) {
    for (const outputTokens of [1, output]) {
      yield { inputTokens, outputTokens }
      for (const name of ['cache_read', 'cache_write', ...image] as const) {
        yield { inputTokens, outputTokens, classes: { [name]: inputTokens } }
      }
    }
  }
}

test.each(formats)(
  'No run within the limits of a model imported from %s costs more than it is charged',
  (_, read) => {
    fc.assert(
      fc.property(made, (of) => {
        const model = modelOf(read(of))
        const cost = model.route[0]?.cost
        if (!cost) throw new Error('no cost')
        // Text of more bytes than the context has tokens: only the limits bound it.
        const content = 'x'.repeat(of.input + of.output)
        const bound = boundOf(model, { messages: [{ role: 'user', content }] })
        const hold = holdOf(model, bound, 0)
        for (const usage of cornersOf(of, model)) {
          const charged = costOf(linesOf(model.prices, 'chat', usage), 0)
          const costs = costOf(linesOf(cost, 'chat', usage), 0)
          expect(charged).toBeGreaterThanOrEqual(costs)
          expect(hold).toBeGreaterThanOrEqual(costs)
        }
      }),
      { numRuns: nightly(100, 2000) },
    )
  },
)
