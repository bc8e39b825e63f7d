/** Reference entries of the routes of Anthropic's Messages and OpenAI's Responses. */
import {
  countRequestShape,
  messageShape,
  messagesRequestShape,
  responseShape,
  responsesRequestShape,
  streamedMessageShape,
  streamedResponseShape,
  tokenCountShape,
} from '../../../models/protocols/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, events, json, ok, operation } from '../entry.ts'
import { quotedRefusals, receiptHeaders } from './openai-area.ts'

const echo = 'counterfoil/echo-1'
const said = 'Every run leaves a receipt.'
const messages = [{ role: 'user', content: said }]

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

const messagesOperations = [
  operation('createMessage', 'POST /v1/messages', 'A message, as Anthropic has it', {
    about:
      "Anthropic's clients work with the base URL (without `/v1`) and the key as auth token. Any " +
      'model answers; one whose server speaks this protocol gets the request as it came, with ' +
      'caches and signatures, and its events come back as they were. Members without effect are ' +
      'named in `X-Counterfoil-Ignored`. Errors are ' +
      '`{"type":"error","error":{"type","message","details"},"request_id"}` with the types that ' +
      'these clients know; a 402 is a `billing_error`.',
    access: 'runs:write',
    body: { schema: messagesRequestShape },
    isIdempotent: true,
    examples: [
      { name: 'Ask', body: { model: echo, max_tokens: 64, messages }, status: 200 },
      {
        name: 'Stream it',
        body: { model: echo, max_tokens: 64, messages, stream: true },
        status: 200,
      },
    ],
    answers: [
      {
        status: 200,
        about:
          'The message; with `stream: true` named events. The receipt is in `counterfoil` of the ' +
          'message, or of the event `message_delta`.',
        headers: receiptHeaders,
        content: {
          ...json(messageShape),
          ...events(streamedMessageShape, messageSample.join('')),
        },
      },
    ],
    refuses: quotedRefusals,
  }),
  operation('countTokens', 'POST /v1/messages/count_tokens', 'How many tokens a request has', {
    about:
      'Free, and no run. Exact where the model has a tokenizer, or its server speaks this ' +
      'protocol and answers within 3 seconds, else by its bytes per token.',
    access: 'any',
    body: { schema: countRequestShape },
    examples: [{ name: 'Count', body: { model: echo, messages }, status: 200 }],
    answers: [ok('The count.', tokenCountShape)],
    refuses: ['invalid_request', 'model_not_found', 'model_not_allowed'],
  }),
]

const responses = [
  operation('createResponse', 'POST /v1/responses', 'A response, as OpenAI has it', {
    about:
      'The answer is kept for a day, encrypted, unless the request says `store: false`: a next ' +
      'turn can name it as `previous_response_id`, and its items by `item_reference`. ' +
      '`conversation` and `background` are refused. Tools that a server would run itself ' +
      'have no effect and are named in `X-Counterfoil-Ignored`.',
    access: 'runs:write',
    body: { schema: responsesRequestShape },
    isIdempotent: true,
    examples: [
      { name: 'Ask', body: { model: echo, input: said, max_output_tokens: 64 }, status: 200 },
      { name: 'Stream it', body: { model: echo, input: said, stream: true }, status: 200 },
    ],
    answers: [
      {
        status: 200,
        about:
          'The response; with `stream: true` named and numbered events. The receipt is in ' +
          '`counterfoil` of the response, which the last event has whole.',
        headers: receiptHeaders,
        content: {
          ...json(responseShape),
          ...events(streamedResponseShape, responseSample.join('')),
        },
      },
    ],
    refuses: quotedRefusals,
  }),
  operation('getResponse', 'GET /v1/responses/:id', 'No response can be read again', {
    about: 'Always 404. The run of a response is at `GET /v1/runs/:id`, its receipt beside it.',
    access: 'runs:read',
    path: { id: t.text('Any.', 'resp_1') },
    examples: [{ name: 'Ask for one', path: { id: 'resp_1' }, status: 404 }],
    answers: [],
    refuses: ['not_found'],
  }),
]

export const messagesArea = area('messages', 'programs', 'Messages (Anthropic)', {
  about:
    'Another protocol for the same runs: Claude Code and every client of Anthropic. Caps, ' +
    'limits, receipts and idempotency are the same.',
  operations: messagesOperations,
})

export const responsesArea = area('responses', 'programs', 'Responses (OpenAI)', {
  about:
    'Another protocol for the same runs: Codex and what uses OpenAI’s newer API. Caps, limits, ' +
    'receipts and idempotency are the same.',
  operations: responses,
})
