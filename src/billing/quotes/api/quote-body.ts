/** The body of asking for a quote. A start loads this; the answers load with the reference. */
import * as t from '../../../web/http/shape.ts'

const tokens = (about: string, example: number, minimum: number) =>
  t.integer(about, example, { minimum, maximum: 1_000_000_000 })

export const quoteBody = t.body('QuoteRequest', 'What a run may use, and how long to decide.', {
  model: t.text('A model of `GET /v1/models`.', 'counterfoil/echo-1'),
  max_input_tokens: tokens('The most that a run may read.', 2000, 1),
  max_output_tokens: tokens('The most that it may write, all choices together.', 500, 0),
  valid_s: t.integer('Seconds until it expires.', 600, { minimum: 1, maximum: 3600 }),
  'uses?': t.integer('How many runs may use it. Default: 1.', 1, {
    minimum: 1,
    maximum: 1_000_000,
  }),
  'account?': t.oneOf('Whose runs. Default: own, of the account of the key.', ['own', 'any']),
  'service_tier?': t.text('The tier that the run will ask for.', 'default'),
})

export type QuoteBody = t.Static<typeof quoteBody>
