/** The lists of the configuration: models and plans; the others stand beside. */
import { isPerToken, ofEachRate, rateMeaning } from '../models/rate-fields.ts'
import { tokenizerNames } from '../models/tokenizers/tokenizer.ts'
import { amount } from './money-values.ts'
import { needed, optional } from './setting.ts'
import { upstreamFields } from './upstream-entries.ts'
import { decimal, flag, upstreamId as id, integer, listOf, oneOf, text } from './values.ts'
import { webhookFields } from './webhook-entries.ts'
import { witnessFields } from './witness-entries.ts'

export const words = text('text', 'text of 1 to 200 characters', /^\P{Cc}{1,200}$/u)
const tokens = integer('tokens', 0, 1_000_000_000)
const _ms = integer('ms', 1, 86_400_000)

const pusd = amount('pUSD')
const nusd = amount('nUSD')

/** The rates of the classes of units. */
const rates = ofEachRate((field, about) =>
  optional(isPerToken(field) ? pusd : nusd, rateMeaning(field, about)),
)

/** The fields of `[[models.bands]]`, `[[models.tiers]]` and of the `cost` of a step of a route. */
export const modelTables = {
  bands: {
    above_input_tokens: needed(tokens, 'Input above which the whole run has these rates.'),
    ...rates,
  },
  tiers: {
    name: needed(id, 'Value of service_tier whose runs have these rates.'),
    ...rates,
  },
  step: {
    to: needed(words, 'upstream:model.'),
    weight: optional(
      integer('parts', 1, 1_000_000),
      'Share of the requests, relative to neighbouring steps with a weight.',
    ),
  },
  cost: {
    ...rates,
    request_nusd: optional(nusd, 'Price of a run in addition to its units.'),
  },
} as const

/** The fields of each list's entries. */
export const lists = {
  upstreams: upstreamFields,
  models: {
    id: needed(
      words,
      'Name in requests: owner/name. The id of a built-in model changes its price.',
    ),
    name: optional(words, 'Name on pages. Default: its id.'),
    kind: optional(oneOf('chat', 'embedding'), 'Kind of model. Needed.'),
    context_tokens: optional(tokens, 'Most tokens in and out together. Needed.'),
    max_output_tokens: optional(tokens, 'Most tokens of an answer. Needed for chat.'),
    balance: optional(
      oneOf('order', 'weight', 'latency', 'cost', 'least-busy'),
      'How the next step is chosen among neighbours with weights. Default: weight if the first ' +
        'step has one, else order.',
    ),
    total_tokens_max: optional(
      tokens,
      'Most tokens in and out together, if context_tokens limits the input alone.',
    ),
    ...rates,
    input_pusd: optional(pusd, 'Price of an input token. Needed, 0 when free.'),
    output_pusd: optional(pusd, 'Price of an output token. Needed for chat.'),
    request_nusd: optional(nusd, 'Price of a run in addition to its units. Default: 0.'),
    overhead_per_message: optional(
      tokens,
      'Most tokens that an upstream adds to a message; has a default.',
    ),
    overhead_fixed: optional(tokens, 'Most tokens that an upstream adds to a request.'),
    tokenizer: optional(
      oneOf(...tokenizerNames),
      'Vocabulary that counts the text of holds exactly, up to 256 KiB. Default: bytes bound it.',
    ),
    image_tokens_max: optional(tokens, 'Most tokens of an image. Default: images are refused.'),
    page_tokens_max: optional(tokens, 'Most tokens of a page of a PDF. Default: PDFs are refused.'),
    pdf_pages_max: optional(
      integer('pages', 1, 10_000),
      'Most pages of a PDF that its server takes. Default: 100.',
    ),
    hold_bytes_per_token: optional(
      integer('bytes', 1, 4),
      'Bytes of text that a hold counts as one token; above 1 at your own risk. Default: 1.',
    ),
    bytes_per_token: optional(
      decimal('bytes', 1, 16),
      'Bytes of a token if usage must be counted. Default: measured in reported runs, else 4.',
    ),
    cache: optional(
      oneOf('auto', 'asked'),
      'When a Messages server gets cache breakpoints for clients of other protocols: auto ' +
        'always, asked if the request has a prompt_cache_key. Writes cost cache_write. ' +
        'Default: asked.',
    ),
    on_disconnect: optional(
      oneOf('drain', 'cut'),
      'Effect of a hang-up: drain reads the answer to its end and charges it, cut stops the ' +
        'server. Default: drain if reasoning is not streamed in full, else cut.',
    ),
    terminal: optional(flag, 'Whether the public terminal may use it. Default: false.'),
    pass: optional(listOf(words), 'Members of requests to forward unchanged.'),
    features: optional(listOf(words), 'Features: tools, vision, reasoning, …'),
    owned_by: optional(words, 'Owner of the model. Default: the owner in its id.'),
    status: optional(
      oneOf('live', 'disabled', 'deprecated'),
      'Default: live. deprecated models still run.',
    ),
  },
  plans: {
    id: needed(
      id,
      'Name of the plan. free, builder and scale have defaults for all other settings.',
    ),
    name: optional(words, 'Name on pages.'),
    price_nusd: optional(nusd, 'Price of a period.'),
    period: optional(oneOf('month', 'none'), 'How often it is paid; none: once.'),
    discount_bps: optional(
      integer('0.01 %', 0, 10_000),
      'Discount on every run of a model without its own.',
    ),
    models: optional(
      listOf(words),
      'Models in the plan, as globs, or tables with a discount of their own. Default: all.',
    ),
  },
  webhooks: webhookFields,
  witnesses: witnessFields,
} as const

/** The table `limits` of a plan. */
export const planLimits = {
  rpm: optional(integer('requests/min', 1, 10_000_000), 'Requests of one key.'),
  concurrency: optional(integer('runs', 1, 1_000_000), 'Runs of one key at once.'),
  max_keys: optional(integer('keys', 1, 500), 'Active keys of an account.'),
  max_depth: optional(integer('levels', 0, 4), 'Levels of keys below a key.'),
  history_days: optional(integer('days', 1, 36_500), 'How far back runs are shown.'),
} as const
