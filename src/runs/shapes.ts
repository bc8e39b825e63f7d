/** The answers of runs, in the shapes of OpenAI and in ours, and the requests of OpenAI. */
import { meters } from '../models/meter.ts'
import * as t from '../web/http/shape.ts'
import {
  chatMessageShape,
  chunkShape,
  customCallShape,
  toolCallShape,
  toolChoiceShape,
  toolShape,
} from './api/chat-shapes.ts'
import { fit } from './api/run-body.ts'

const echo = 'counterfoil/echo-1'

const statuses = ['succeeded', 'queued', 'running', 'failed', 'cancelled', 'interrupted'] as const

const tokens = (about: string) => t.count(`${about} Tokens.`, 5)

const inputDetails = t.object('Of these, where there are any.', {
  'cached_tokens?': tokens('Read from a cache.'),
  'cache_write_tokens?': tokens('Written to a cache.'),
  'audio_tokens?': tokens('Of sound.'),
  'image_tokens?': tokens('Of images.'),
})

const cost = t.nusd('What was charged.', 4650)

export const fitted = t.integer('With `fit`: the most tokens there could be.', 64, { minimum: 1 })

const messages = t.list(chatMessageShape, 'At most 10,000.', { minItems: 1, maxItems: 10_000 })

export const receiptLinkShape = t.answer('ReceiptLink', 'Where the receipt of a run is.', {
  id: t.id('rcpt', 'Id of the receipt.'),
  digest: t.hash('What was signed.'),
  url: t.text('The receipt file.', `https://gw.example/v1/receipts/${t.sampleIds.rcpt}`, {
    format: 'uri',
  }),
  cost_nusd: cost,
})

export const chatRequestShape = t.answer(
  'ChatRequest',
  "OpenAI's request. Members that are not named here are ignored.",
  {
    model: t.text('A model of `GET /v1/models`.', echo),
    messages,
    'max_tokens?': t.orNull(
      t.integer("The most tokens of one choice; lowered to the model's limit.", 64, { minimum: 1 }),
    ),
    'max_completion_tokens?': t.orNull(t.integer('The same, newer name.', 64, { minimum: 1 })),
    'fit?': fit,
    'n?': t.orNull(t.integer('Choices; the hold is multiplied.', 1, { minimum: 1, maximum: 128 })),
    'stream?': t.orNull(t.flag('Whether the answer comes in pieces.', false)),
    'stream_options?': t.orNull(
      t.object('', { 'include_usage?': t.flag('A last chunk with usage and receipt.', true) }),
    ),
    'temperature?': t.orNull(t.real('Passed on.', 1)),
    'top_p?': t.orNull(t.real('Passed on.', 1)),
    'seed?': t.orNull(t.integer('Passed on.', 1)),
    'stop?': t.either('Where the answer ends.', [
      t.text('', '\n'),
      t.list(t.text('', '\n'), 'At most 16.', { maxItems: 16 }),
      t.nothing,
    ]),
    'response_format?': t.anything('Passed on.', { type: 'json_object' }),
    'tools?': t.orNull(t.list(toolShape, 'Passed on.')),
    'tool_choice?': t.orNull(toolChoiceShape),
    'parallel_tool_calls?': t.orNull(t.flag('Passed on.', true)),
  },
)

const usage = t.object('What it is charged for.', {
  prompt_tokens: tokens('Read.'),
  'prompt_tokens_details?': inputDetails,
  completion_tokens: tokens('Written.'),
  'completion_tokens_details?': t.object('Of these, where there are any.', {
    'reasoning_tokens?': tokens('Of reasoning.'),
    'audio_tokens?': tokens('Of sound.'),
    'image_tokens?': tokens('Of images.'),
  }),
  total_tokens: t.count('Both. Tokens.', 10),
  cost_nusd: cost,
})

export const chatCompletionShape = t.answer('ChatCompletion', "OpenAI's answer, and the receipt.", {
  id: t.id('run', 'Id of the run.'),
  object: t.only('chat.completion'),
  created: t.integer('Unix seconds.', 1_785_585_600),
  model: t.text('The model.', echo),
  'system_fingerprint?': t.text("The upstream's.", 'fp_1'),
  'service_tier?': t.text('The tier that the upstream says it used.', 'default'),
  choices: t.list(
    t.object('A choice.', {
      index: t.integer('Its place.', 0),
      message: t.object('What was said.', {
        role: t.only('assistant'),
        content: t.orNull(t.text('The text.', 'Every run leaves a receipt.')),
        'reasoning_content?': t.orNull(t.text('Reasoning that the model shows.', 'First …')),
        'tool_calls?': t.orNull(
          t.list(t.either('', [toolCallShape, customCallShape]), 'Calls of tools.'),
        ),
        'refusal?': t.orNull(t.text('Why the model declined.', 'I cannot help with that.')),
      }),
      finish_reason: t.orNull(t.text('`stop`, `length`, `tool_calls`, …', 'stop')),
      'logprobs?': t.anything('As the model gives them.', null),
    }),
    'As many as were asked for.',
  ),
  usage,
  receipt: receiptLinkShape,
  'max_output_tokens?': fitted,
})

export const chatChunkShape = chunkShape({
  'usage?': t.orNull(usage),
  'receipt?': receiptLinkShape,
  'max_output_tokens?': fitted,
})

export const embeddingRequestShape = t.answer(
  'EmbeddingRequest',
  "OpenAI's request. Members that are not named here are ignored.",
  {
    model: t.text('An embedding model.', 'counterfoil/embed-1'),
    input: t.either('Text, or a list of texts.', [
      t.text('', 'a receipt'),
      t.list(t.text('', 'a receipt'), 'One vector each.', { minItems: 1 }),
    ]),
    'encoding_format?': t.orNull(t.oneOf('Default: float.', ['float', 'base64'])),
    'dimensions?': t.orNull(t.integer('Where the model takes it.', 256, { minimum: 1 })),
  },
)

export const embeddingsShape = t.answer('Embeddings', "OpenAI's answer, and the receipt.", {
  object: t.only('list'),
  data: t.list(
    t.object('A vector.', {
      object: t.only('embedding'),
      index: t.integer('Of its text.', 0),
      embedding: t.either('Numbers, or their bytes as base64.', [
        t.list(t.real('', 0.6), 'Numbers.'),
        t.text('', 'mpkZP83MTD8='),
      ]),
    }),
    'One for each text.',
  ),
  model: t.text('The model.', 'counterfoil/embed-1'),
  usage: t.object('What it is charged for.', {
    prompt_tokens: tokens('Read.'),
    'prompt_tokens_details?': inputDetails,
    total_tokens: tokens('The same.'),
    cost_nusd: cost,
  }),
  receipt: receiptLinkShape,
})

const runMembers = {
  id: t.id('run', 'Id of the run.'),
  object: t.only('run'),
  status: t.oneOf('How it is.', statuses),
  kind: t.oneOf('What kind of model.', ['chat', 'embedding']),
  model: t.text('The model.', echo),
  route: t.text('`upstream:model` that ran it; empty before.', 'builtin:counterfoil/echo-1'),
  key_id: t.id('key', 'The key that pays.'),
  created_at: t.time('When it was held for.'),
  started_at: t.orNull(t.time('When it began.')),
  first_byte_at: t.orNull(t.time('When its first output came.')),
  finished_at: t.orNull(t.time('When it was settled.')),
  hold_nusd: t.nusd('Reserved for it: the most it could cost.', 48_000),
  lines: t.list(
    t.object('What is charged for.', {
      meter: t.text(`What was counted: ${meters.join(', ')}. There can be more later.`, 'input'),
      quantity: t.count('Units.', 5),
      price_pusd: t.pusd('Of one unit.', 150_000),
    }),
    'The amount follows from these.',
  ),
  'max_output_tokens?': fitted,
  cost_nusd: t.nusd('What was charged.', 4650),
  discount_bps: t.integer("The plan's discount, in hundredths of a percent.", 0),
  usage_source: t.orNull(t.oneOf('Who counted the units.', ['embedded', 'reported', 'counted'])),
  clamped: t.flag('Whether the units were lowered to the bound.', false),
  outcome: t.orNull(
    t.oneOf('How it ended.', ['complete', 'partial', 'failed', 'cancelled', 'interrupted']),
  ),
  error: t.usuallyNull(
    t.object('Why it did not complete.', {
      type: t.text('An error type.', 'upstream_error'),
      message: t.text('In words.', 'The model server failed.'),
    }),
  ),
  receipt_id: t.orNull(t.id('rcpt', 'Its receipt, once it ended.')),
  background: t.flag('Whether it runs in the background.', false),
  tags: t.map(t.text('', 'demo'), "The caller's.", { task: 'demo' }),
  metadata: t.anything("The caller's, at most 4,096 bytes.", {}),
}

const output = t.anything('The choices, or the vectors.', [
  {
    index: 0,
    message: { role: 'assistant', content: 'Every run leaves a receipt.' },
    finish_reason: 'stop',
  },
])

export const runShape = t.answer('Run', 'One request to a model.', {
  ...runMembers,
  'output?': output,
})

export const runWithReceiptShape = t.answer(
  'RunWithReceipt',
  'A run that ended, with its output and its receipt.',
  {
    ...runMembers,
    output,
    receipt: receiptLinkShape,
  },
)

const eventOf = (type: string, members: Record<string, t.TSchema>) =>
  t.object('', { type: t.only(type), ...members })

const delta = eventOf('run.output.delta', {
  choices: t.list(t.anything('As in a chunk of a chat.', { index: 0, delta: {} }), 'Pieces.'),
})

export const runEventShape = t.choice('RunEvent', 'The data of one event of a streamed run.', [
  delta,
  eventOf('run.completed', { run: runShape, receipt: receiptLinkShape }),
  t.object('It broke off.', { error: t.anything('As in an error body.', {}) }),
])

export const followEventShape = t.choice('FollowEvent', 'The data of one event of a run.', [
  eventOf('run.status', { run: runShape }),
  delta,
  eventOf('run.ended', { run: runShape }),
])

export const runPageShape = t.page('RunPage', 'Runs.', runShape)

export type RunAnswer = t.Static<typeof runShape>
export type ReceiptLink = t.Static<typeof receiptLinkShape>
