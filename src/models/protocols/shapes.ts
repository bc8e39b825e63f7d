/** The shapes that the doors of Messages and Responses take and answer. */
import * as t from '../../web/http/shape.ts'
import {
  answerBlockShape,
  messageEventShape,
  messageParamShape,
  messagesToolShape,
  systemShape,
} from './messages/shapes.ts'
import {
  inputItemShape,
  outputItemShape,
  responseEventShape,
  responsesToolShape,
} from './responses/shapes.ts'

const echo = 'counterfoil/echo-1'
const said = 'Every run leaves a receipt.'
const tokens = (about: string) => t.count(`${about} Tokens.`, 5)

const counterfoil = t.object('The receipt and what it cost.', {
  receipt: t.object('Where the receipt is.', {
    id: t.id('rcpt', 'Id of the receipt.'),
    digest: t.hash('What was signed.'),
    url: t.text('The receipt file.', `https://gw.example/v1/receipts/${t.sampleIds.rcpt}`, {
      format: 'uri',
    }),
    cost_nusd: t.nusd('What was charged.', 4650),
  }),
  cost_nusd: t.nusd('What was charged.', 4650),
})

const messages = t.list(messageParamShape, 'The conversation.', { minItems: 1 })

const asked = {
  model: t.text('A model of `GET /v1/models`.', echo),
  messages,
  'system?': systemShape,
  'tools?': t.list(messagesToolShape, 'Tools that the model may call.'),
  'tool_choice?': t.anything('Passed on.', { type: 'auto' }),
  'thinking?': t.anything('How much the model thinks; an effort for servers of other kinds.', {
    type: 'disabled',
  }),
}

export const messagesRequestShape = t.answer(
  'MessagesRequest',
  "Anthropic's request. Where the model server speaks this protocol it goes on as it came.",
  {
    ...asked,
    max_tokens: t.integer('The most tokens of the answer.', 64, { minimum: 1 }),
    'stream?': t.flag('Whether the answer comes as events.', false),
    'stop_sequences?': t.list(t.text('', '.'), 'Texts that end the answer.'),
    'temperature?': t.real('Passed on.', 1),
    'top_p?': t.real('Passed on.', 1),
    'metadata?': t.object('', { 'user_id?': t.text('Passed on as the user.', 'u-1') }),
  },
)

const messageUsage = t.object('What it used.', {
  input_tokens: tokens('Read, without the caches.'),
  cache_read_input_tokens: t.count('Read from a cache. Tokens.', 0),
  cache_creation_input_tokens: t.count('Written to a cache. Tokens.', 0),
  cache_creation: t.object('The same by how long it lives.', {
    ephemeral_5m_input_tokens: t.count('Five minutes. Tokens.', 0),
    ephemeral_1h_input_tokens: t.count('An hour. Tokens.', 0),
  }),
  output_tokens: tokens('Written.'),
  output_tokens_details: t.anything('Of these, `thinking_tokens`, if they are told apart.', null),
  server_tool_use: t.anything('Searches of the model server, if there were any.', null),
  service_tier: t.anything('Always null where the answer is translated.', null),
  inference_geo: t.anything('The same.', null),
  speed: t.anything('The same.', null),
})

const messageMembers = {
  id: t.text(
    '`msg_` and what follows `run_` in the id of its run.',
    'msg_01k1j8dq00b4d6f8h1k3m5p7r9',
  ),
  type: t.only('message'),
  role: t.only('assistant'),
  model: t.text('The model.', echo),
  content: t.list(answerBlockShape, 'What it says.'),
  stop_reason: t.orNull(t.text('`end_turn`, `max_tokens`, `tool_use`, …', 'end_turn')),
  stop_sequence: t.orNull(t.text('The text that ended it.', '.')),
  stop_details: t.anything('Null where the answer is translated.', null),
  container: t.anything('The same.', null),
  diagnostics: t.anything('The same.', null),
  usage: messageUsage,
}

export const messageShape = t.answer('Message', "Anthropic's answer, and the receipt.", {
  ...messageMembers,
  counterfoil,
})

export const streamedMessageShape = messageEventShape(
  t.object('Without content.', messageMembers),
  {
    usage: messageUsage,
    counterfoil,
  },
)

export const tokenCountShape = t.answer('TokenCount', 'How many tokens a request has.', {
  input_tokens: tokens('Read.'),
})

export const countRequestShape = t.answer('CountTokensRequest', "Anthropic's request.", asked)

export const responsesRequestShape = t.answer(
  'ResponsesRequest',
  "OpenAI's request. Where the model server speaks this protocol it goes on as it came.",
  {
    model: t.text('A model of `GET /v1/models`.', echo),
    input: t.either('Text, or a list of items.', [
      t.text('', said),
      t.list(inputItemShape, 'Items.', { minItems: 1 }),
    ]),
    'instructions?': t.orNull(t.text('What the model is to keep to.', 'Be short.')),
    'max_output_tokens?': t.orNull(t.integer('The most tokens.', 64, { minimum: 1 })),
    'stream?': t.orNull(t.flag('Whether the answer comes as events.', false)),
    'tools?': t.orNull(t.list(responsesToolShape, 'Tools that the model may call.')),
    'tool_choice?': t.anything('Passed on.', 'auto'),
    'text?': t.anything('The form of the answer.', { format: { type: 'text' } }),
    'reasoning?': t.anything('How much the model reasons.', { effort: 'low' }),
    'metadata?': t.anything('Becomes tags of the run.', { task: 'demo' }),
    'store?': t.orNull(
      t.flag('Unless false, the answer is kept for a day, so that a next turn can name it.', false),
    ),
    'previous_response_id?': t.orNull(
      t.text(
        'Id of a kept response: `input` goes on with its conversation.',
        'resp_01k1j8dq00b4d6f8h1k3m5p7r9',
      ),
    ),
  },
)

const responseMembers = {
  id: t.text(
    '`resp_` and what follows `run_` in the id of its run.',
    'resp_01k1j8dq00b4d6f8h1k3m5p7r9',
  ),
  object: t.only('response'),
  created_at: t.integer('Unix seconds.', 1_785_585_600),
  status: t.oneOf('How it ended.', ['completed', 'incomplete', 'failed', 'in_progress']),
  model: t.text('The model.', echo),
  background: t.flag('Always false.', false),
  error: t.anything('Why it failed.', null),
  incomplete_details: t.anything('Why it is incomplete.', null),
  instructions: t.anything('As asked.', null),
  max_output_tokens: t.anything('As asked.', null),
  metadata: t.anything('As asked.', {}),
  parallel_tool_calls: t.flag('As asked.', true),
  previous_response_id: t.anything('As asked.', null),
  reasoning: t.anything('As asked.', { effort: null, summary: null }),
  temperature: t.anything('As asked.', null),
  text: t.anything('As asked.', { format: { type: 'text' } }),
  tool_choice: t.anything('As asked.', 'auto'),
  tools: t.anything('As asked.', []),
  top_p: t.anything('As asked.', null),
  truncation: t.text('Always `disabled`.', 'disabled'),
  output: t.list(outputItemShape, 'What it says and calls.'),
  store: t.flag('Whether a next turn can name it and its items.', false),
  usage: t.orNull(
    t.object('What it used.', {
      input_tokens: tokens('Read.'),
      input_tokens_details: t.object('', { cached_tokens: t.count('From a cache. Tokens.', 0) }),
      output_tokens: tokens('Written.'),
      output_tokens_details: t.object('', {
        reasoning_tokens: t.count('Of reasoning. Tokens.', 0),
      }),
      total_tokens: t.count('Both. Tokens.', 10),
    }),
  ),
}

export const responseShape = t.answer('Response', "OpenAI's answer, and the receipt.", {
  ...responseMembers,
  counterfoil,
})

export const streamedResponseShape = responseEventShape(
  t.object('Its receipt comes with its end.', { ...responseMembers, 'counterfoil?': counterfoil }),
)
