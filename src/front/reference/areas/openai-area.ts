/** Reference entries of the OpenAI-compatible routes. */
import {
  chatChunkShape,
  chatCompletionShape,
  chatRequestShape,
  embeddingRequestShape,
  embeddingsShape,
} from '../../../runs/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, type Entry, events, json, ok, operation } from '../entry.ts'
import type { Example } from '../operation.ts'

/** What a paid answer says in headers. */
export const receiptHeaders = {
  'X-Receipt-Id': t.id('rcpt', 'Id of the receipt.'),
  'X-Cost-Nusd': t.nusd('What was charged.', 4650),
}

/** What every route that spends may refuse with. */
export const spendRefusals = [
  'invalid_request',
  'insufficient_balance',
  'cap_exceeded',
  'model_not_allowed',
  'model_not_found',
  'context_length_exceeded',
  'conflict',
  'concurrency_limited',
  'upstream_error',
  'unavailable',
  'log_diverged',
  'upstream_timeout',
] as const

/** Those of a route that takes a quote. */
export const quotedRefusals = [...spendRefusals, 'not_found', 'gone'] as const

const echo = 'counterfoil/echo-1'
const said = [{ role: 'user', content: 'Every run leaves a receipt.' }]

const sseSample = [
  '{"id":"run_…","object":"chat.completion.chunk","created":1785585600,' +
    '"choices":[{"index":0,"delta":{"role":"assistant","content":"Every"},"finish_reason":null}]}',
  '{"id":"run_…","object":"chat.completion.chunk","created":1785585600,' +
    '"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10,' +
    '"cost_nusd":4650},"receipt":{"id":"rcpt_…","digest":"0x…","url":"…","cost_nusd":4650}}',
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('')

const chatAnswers: Entry['answers'] = [
  {
    status: 200,
    about:
      'The completion; with `stream: true` its chunks as server-sent events without names. The ' +
      'receipt is on the last chunk that clients keep. `X-Counterfoil-Max-Tokens` says to what ' +
      '`max_tokens` was lowered, if it was. A stream that fails after its first chunk ' +
      'carries `data: {"error":{…}}` and ends without `[DONE]`.',
    headers: receiptHeaders,
    content: {
      ...json(chatCompletionShape),
      ...events(chatChunkShape, sseSample),
    },
  },
]

const chatExamples: Example[] = [
  { name: 'Run a model', body: { model: echo, messages: said, max_tokens: 64 }, status: 200 },
  {
    name: 'Stream it',
    body: {
      model: echo,
      messages: said,
      max_tokens: 64,
      stream: true,
      stream_options: { include_usage: true },
    },
    status: 200,
  },
]

const operations = [
  operation('createChatCompletion', 'POST /v1/chat/completions', 'Chat, as OpenAI has it', {
    about:
      'Official clients work with the base URL and the key alone. Known options pass through, ' +
      'unknown ones are ignored. `max_tokens` (or `max_completion_tokens`) bounds what it may ' +
      "cost: absent, it is the model's limit, and the hold covers that. Message parts without a " +
      'bound in bytes (images, audio, files) are refused.',
    access: 'runs:write',
    body: { schema: chatRequestShape },
    isIdempotent: true,
    examples: chatExamples,
    answers: chatAnswers,
    refuses: quotedRefusals,
  }),
  operation('createEmbedding', 'POST /v1/embeddings', 'Embeddings, as OpenAI has them', {
    about: 'One text or several; as floats or, with `encoding_format: base64`, as bytes.',
    access: 'runs:write',
    body: { schema: embeddingRequestShape },
    isIdempotent: true,
    examples: [
      {
        name: 'Embed two texts',
        body: { model: 'counterfoil/embed-1', input: ['a receipt', 'a proof'] },
        status: 200,
      },
    ],
    answers: [ok('The vectors.', embeddingsShape, receiptHeaders)],
    refuses: quotedRefusals,
  }),
]

export const openaiArea = area('openai', 'programs', "OpenAI's routes", {
  about:
    'Official clients work unchanged. Added to their answers: `usage.cost_nusd` and `receipt`. ' +
    'Every run is held for before it starts, charged once at its end, and leaves a receipt.',
  operations,
})
