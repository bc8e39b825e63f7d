/** The answers of `/v1/models`. */
import * as t from '../web/http/shape.ts'
import { isPerToken, ofEachRate } from './rate-fields.ts'

const given = ofEachRate((field, about, example) =>
  isPerToken(field) ? t.pusd(about, example) : t.nusd(about, example),
)
const rates = t.optional(given)
/** Rates that differ: their meanings are told once. */
const differing = t.optional(
  ofEachRate((field, _, example) =>
    t.count(isPerToken(field) ? 'Pico-USD.' : 'Nano-USD.', example),
  ),
)

/** The prices that each further list of a model has at least. */
const told = {
  input_pusd: t.count('Pico-USD.', 150_000),
  output_pusd: t.count('Pico-USD.', 600_000),
  request_nusd: t.count('Nano-USD.', 0),
}

export const modelShape = t.answer('Model', "OpenAI's object and ours.", {
  id: t.text('`owner/name`.', 'counterfoil/echo-1'),
  object: t.only('model'),
  created: t.integer('Always 0: not known here.', 0),
  owned_by: t.text('Whose it is.', 'counterfoil'),
  name: t.text('For people.', 'Echo 1'),
  kind: t.oneOf('What it does.', ['chat', 'embedding']),
  status: t.oneOf('Whether it runs.', ['live', 'disabled', 'deprecated']),
  context_tokens: t.count('What it reads at most.', 131_072),
  max_output_tokens: t.count('What it writes at most; 0 for an embedding.', 4096),
  prices: t.object('What a run costs. An input class without a rate costs the dearest of input.', {
    ...rates,
    input_pusd: given.input_pusd,
    output_pusd: given.output_pusd,
    request_nusd: t.nusd('Of each run.', 0),
    'bands?': t.list(
      t.object('', { above_input_tokens: t.count('Where it begins.', 200_000), ...differing }),
      'Rates of a run whose input is above so many tokens: those that differ.',
    ),
    'tiers?': t.list(
      t.object('', { name: t.text('What service_tier asks for.', 'priority'), ...differing }),
      'Rates of a run of a tier of service: those that differ.',
    ),
    'hours?': t.list(
      t.object('', {
        from: t.text('When they begin.', '16:30'),
        to: t.text('When they end, on the next day if that is earlier.', '00:30'),
        days: t.list(t.text('', 'mon'), 'Days on which they begin.'),
        zone: t.text('Its clocks count.', 'UTC'),
        ...told,
      }),
      'Prices, all members as here, of runs that begin in some hours.',
    ),
    'others?': t.list(
      t.object('', told),
      'Prices, all members as here, of runs that other servers answer. A hold is for the dearest.',
    ),
  }),
  overhead_tokens: t.object('Added to the bound of a hold.', {
    per_message: t.count('For each message.', 0),
    fixed: t.count('Once.', 0),
  }),
  input_bound: t.object('How a hold bounds what it reads.', {
    bytes_per_token: t.count('Bytes of a token of text, at least.', 1),
    tokenizer: t.orNull(t.text('What counts its text instead, up to 256 KiB.', 'o200k_base')),
    image_tokens_max: t.orNull(t.count('Of an image; null where it takes none.', 1600)),
    pdf_tokens_max: t.orNull(t.count('Of a PDF; null where it takes none.', 300_000)),
  }),
  features: t.list(t.text('', 'streaming'), 'What it can.'),
  verifiable: t.oneOf('Whether a run can be repeated.', ['none', 're-executable']),
  terminal: t.flag('Whether the public terminal may use it.', true),
  'aliases?': t.list(t.text('', 'claude-*'), 'Other names.'),
})

export const modelsShape = t.answer('Models', 'All models.', {
  object: t.only('list'),
  data: t.list(modelShape, 'All of them.'),
  has_more: t.flag('Always false.', false),
  first_id: t.orNull(t.text('The first model.', 'counterfoil/echo-1')),
  last_id: t.orNull(t.text('The last model.', 'counterfoil/embed-1')),
  price_list: t.object('The version of all prices; receipts name it as `id@version`.', {
    id: t.text('Its name.', 'default'),
    version: t.count('Its number.', 1),
    digest: t.text('SHA-256 of the prices, as hex.', '5c'.repeat(32)),
  }),
})

export type ModelAnswer = t.Static<typeof modelShape>
export type ModelsAnswer = t.Static<typeof modelsShape>
