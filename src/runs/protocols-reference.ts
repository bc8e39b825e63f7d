/** Reference entries of the routes of OpenAI's and Anthropic's clients. */
import {
  countRequestShape,
  messageShape,
  messagesRequestShape,
  responseShape,
  responsesRequestShape,
  streamedMessageShape,
  streamedResponseShape,
  tokenCountShape,
} from '../models/protocols/shapes.ts'
import * as t from '../web/http/shape.ts'
import * as r from '../web/reference/entry.ts'
import {
  chatChunkShape,
  chatCompletionShape,
  chatRequestShape,
  embeddingRequestShape,
  embeddingsShape,
} from './shapes.ts'

/** Headers of a paid answer. */
export const receiptHeaders = {
  'X-Receipt-Id': t.id('rcpt', 'Id of the receipt.'),
  'X-Cost-Nusd': t.nusd('What was charged.', 4650),
}

/** Refusals of every route that spends. */
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

/** Refusals of a route that takes a quote. */
export const quotedRefusals = [...spendRefusals, 'not_found', 'gone'] as const

const model = 'counterfoil/echo-1'
const said = 'Every run leaves a receipt.'
const messages = [{ role: 'user', content: said }]
const usage = { stream_options: { include_usage: true } }

const { get, post } = r.entriesUnder('/v1', {
  access: 'runs:write',
  path: { id: t.text('Any.', 'resp_1') },
})

/** The entry of a route that runs a model. */
const runs = (id: string, path: string, title: string, words: Parameters<typeof post>[3]) =>
  post(id, path, title, { ...words, isIdempotent: true, refuses: quotedRefusals })

/** The answer of such a route: a whole one, or its events. */
const answered = (about: string, whole: t.TSchema, event: t.TSchema, sample: string) => ({
  status: 200,
  about,
  headers: receiptHeaders,
  content: { ...r.json(whole), ...r.events(event, sample) },
})

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

export const openaiArea = r.area('openai', 'programs', "OpenAI's routes", {
  about:
    'Official clients work unchanged. Added to their answers: `usage.cost_nusd` and `receipt`. ' +
    'Every run is held for before it starts, charged once at its end, and leaves a receipt.',
  operations: [
    runs('createChatCompletion', '/chat/completions', 'Chat, as OpenAI has it', {
      about:
        'Official clients work with the base URL and the key alone. Known options pass through, ' +
        'unknown ones are ignored. `max_tokens` (or `max_completion_tokens`) bounds what it may ' +
        "cost: absent, it is the model's limit, and the hold covers that. Message parts without " +
        'a bound in bytes (images, audio, files) are refused.',
      body: chatRequestShape,
      examples: [
        { name: 'Run a model', body: { model, messages, max_tokens: 64 } },
        {
          name: 'Stream it',
          body: { ...{ model, messages, max_tokens: 64 }, stream: true, ...usage },
        },
      ],
      answers: answered(
        'The completion; with `stream: true` its chunks as server-sent events without names. The ' +
          'receipt is on the last chunk that clients keep. `X-Counterfoil-Max-Tokens` says to ' +
          'what `max_tokens` was lowered, if it was. A stream that fails after its first chunk ' +
          'carries `data: {"error":{…}}` and ends without `[DONE]`.',
        chatCompletionShape,
        chatChunkShape,
        sseSample,
      ),
    }),
    runs('createEmbedding', '/embeddings', 'Embeddings, as OpenAI has them', {
      about: 'One text or several; as floats or, with `encoding_format: base64`, as bytes.',
      body: embeddingRequestShape,
      examples: [
        {
          name: 'Embed two texts',
          body: { model: 'counterfoil/embed-1', input: ['a receipt', 'a proof'] },
        },
      ],
      answers: r.ok('The vectors.', embeddingsShape, receiptHeaders),
    }),
  ],
})

const eventOf = (data: { type: string; [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const messageSample = [
  { type: 'message_start', message: { id: 'msg_…', type: 'message', role: 'assistant' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Every' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, counterfoil: { cost_nusd: 4650 } },
  { type: 'message_stop' },
].map(eventOf)

const responseSample = [
  { type: 'response.created', sequence_number: 0, response: { id: 'resp_…' } },
  { type: 'response.output_text.delta', sequence_number: 4, delta: 'Every' },
  {
    type: 'response.completed',
    sequence_number: 8,
    response: { counterfoil: { cost_nusd: 4650 } },
  },
].map(eventOf)

export const messagesArea = r.area('messages', 'programs', 'Messages (Anthropic)', {
  about:
    'Another protocol for the same runs: Claude Code and every client of Anthropic. Caps, ' +
    'limits, receipts and idempotency are the same.',
  operations: [
    runs('createMessage', '/messages', 'A message, as Anthropic has it', {
      about:
        "Anthropic's clients work with the base URL (without `/v1`) and the key as auth token. " +
        'Any model answers; one whose server speaks this protocol gets the request as it came, ' +
        'with caches and signatures, and its events come back as they were. Members without ' +
        'effect are named in `X-Counterfoil-Ignored`. Errors are ' +
        '`{"type":"error","error":{"type","message","details"},"request_id"}` with the types ' +
        'that these clients know; a 402 is a `billing_error`.',
      body: messagesRequestShape,
      examples: [
        { name: 'Ask', body: { model, max_tokens: 64, messages } },
        { name: 'Stream it', body: { model, max_tokens: 64, messages, stream: true } },
      ],
      answers: answered(
        'The message; with `stream: true` named events. The receipt is in `counterfoil` of the ' +
          'message, or of the event `message_delta`.',
        messageShape,
        streamedMessageShape,
        messageSample.join(''),
      ),
    }),
    post('countTokens', '/messages/count_tokens', 'How many tokens a request has', {
      about:
        'Free, and no run. Exact where the model has a tokenizer, or its server speaks this ' +
        'protocol and answers within 3 seconds, else by its bytes per token.',
      access: 'any',
      body: countRequestShape,
      examples: [{ name: 'Count', body: { model, messages } }],
      answers: r.ok('The count.', tokenCountShape),
      refuses: ['invalid_request', 'model_not_found', 'model_not_allowed'],
    }),
  ],
})

export const responsesArea = r.area('responses', 'programs', 'Responses (OpenAI)', {
  about:
    'Another protocol for the same runs: Codex and what uses OpenAI’s newer API. Caps, limits, ' +
    'receipts and idempotency are the same.',
  operations: [
    runs('createResponse', '/responses', 'A response, as OpenAI has it', {
      about:
        'The answer is kept for a day, encrypted, unless the request says `store: false`: a next ' +
        'turn can name it as `previous_response_id`, and its items by `item_reference`. ' +
        '`conversation` and `background` are refused. Tools that a server would run itself ' +
        'have no effect and are named in `X-Counterfoil-Ignored`.',
      body: responsesRequestShape,
      examples: [
        { name: 'Ask', body: { model, input: said, max_output_tokens: 64 } },
        { name: 'Stream it', body: { model, input: said, stream: true } },
      ],
      answers: answered(
        'The response; with `stream: true` named and numbered events. The receipt is in ' +
          '`counterfoil` of the response, which the last event has whole.',
        responseShape,
        streamedResponseShape,
        responseSample.join(''),
      ),
    }),
    get('getResponse', '/responses/:id', 'No response can be read again', {
      about: 'Always 404. The run of a response is at `GET /v1/runs/:id`, its receipt beside it.',
      access: 'runs:read',
      examples: [{ name: 'Ask for one', status: 404 }],
      answers: [],
    }),
  ],
})
