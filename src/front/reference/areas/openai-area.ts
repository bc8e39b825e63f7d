import { type Answer, type Area, type Example, type Operation, ok } from '../operation.ts'
import {
  anything,
  flag,
  hash,
  id,
  integer,
  list,
  nusd,
  object,
  oneOf,
  only,
  orNull,
  ref,
  type Schemas,
  text,
} from '../schema.ts'

/** What a paid answer says in headers. */
export const receiptHeaders = {
  'X-Receipt-Id': id('rcpt', 'Id of the receipt.'),
  'X-Cost-Nusd': nusd('What was charged.', 4650),
}

/** What every route that spends may refuse with. */
export const spendRefusals = [
  'invalid_request',
  'insufficient_balance',
  'cap_exceeded',
  'model_not_allowed',
  'model_not_found',
  'conflict',
  'concurrency_limited',
  'upstream_error',
  'unavailable',
  'log_diverged',
  'upstream_timeout',
] as const

const echo = 'counterfoil/echo-1'
const said = [{ role: 'user', content: 'Every run leaves a receipt.' }]
const tokens = (about: string) => integer(`${about} Tokens.`, 5, { minimum: 0 })
const cost = nusd('What was charged.', 4650)

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

const chatAnswers: Answer[] = [
  {
    status: 200,
    about:
      'The completion; with `stream: true` its chunks as server-sent events without names. The ' +
      'receipt is on the last chunk that clients keep. A stream that fails after its first chunk ' +
      'carries `data: {"error":{…}}` and ends without `[DONE]`.',
    headers: receiptHeaders,
    content: {
      'application/json': { schema: ref('ChatCompletion') },
      'text/event-stream': { schema: text('Server-sent events.', ''), sample: sseSample },
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

const operations: readonly Operation[] = [
  {
    id: 'createChatCompletion',
    route: 'POST /v1/chat/completions',
    title: 'Chat, as OpenAI has it',
    about:
      'Official clients work with the base URL and the key alone. Known options pass through, ' +
      'unknown ones are ignored. `max_tokens` (or `max_completion_tokens`) bounds what it may ' +
      "cost: absent, it is the model's limit, and the hold covers that. Message parts without a " +
      'bound in bytes (images, audio, files) are refused.',
    access: 'runs:write',
    body: { schema: ref('ChatRequest') },
    isIdempotent: true,
    examples: chatExamples,
    answers: chatAnswers,
    refuses: spendRefusals,
  },
  {
    id: 'createEmbedding',
    route: 'POST /v1/embeddings',
    title: 'Embeddings, as OpenAI has them',
    about: 'One text or several; as floats or, with `encoding_format: base64`, as bytes.',
    access: 'runs:write',
    body: { schema: ref('EmbeddingRequest') },
    isIdempotent: true,
    examples: [
      {
        name: 'Embed two texts',
        body: { model: 'counterfoil/embed-1', input: ['a receipt', 'a proof'] },
        status: 200,
      },
    ],
    answers: [ok('The vectors.', ref('Embeddings'), receiptHeaders)],
    refuses: spendRefusals,
  },
]

/** Asks for as much as can be afforded. */
export const fit = flag(
  'Lowers the most tokens to what the key, its ancestors and the balance afford, not to a 402.',
  false,
)
export const fitted = integer('With `fit`: the most tokens there could be.', 64, { minimum: 1 })

const messages = list(
  object('A message; text parts only.', {
    role: text('Who says it.', 'user'),
    'content?': anything('Text, or a list of text parts.', 'Every run leaves a receipt.'),
  }),
  'At most 1,000.',
  { minItems: 1, maxItems: 1000 },
)

const schemas: Schemas = {
  ChatRequest: object("OpenAI's request. Members that are not named here are ignored.", {
    model: text('A model of `GET /v1/models`.', echo),
    messages,
    'max_tokens?': orNull(integer('The most tokens of one choice.', 64, { minimum: 1 })),
    'max_completion_tokens?': orNull(integer('The same, newer name.', 64, { minimum: 1 })),
    'fit?': fit,
    'n?': orNull(integer('Choices; the hold is multiplied.', 1, { minimum: 1, maximum: 128 })),
    'stream?': orNull(flag('Whether the answer comes in pieces.', false)),
    'stream_options?': orNull(
      object('', { 'include_usage?': flag('A last chunk with usage and receipt.', true) }),
    ),
    'temperature?': orNull({ type: 'number', description: 'Passed on.', examples: [1] }),
    'top_p?': orNull({ type: 'number', description: 'Passed on.', examples: [1] }),
    'seed?': orNull(integer('Passed on.', 1)),
    'stop?': anything('Text, or a list of at most 16.', '\n'),
    'response_format?': anything('Passed on.', { type: 'json_object' }),
    'tools?': anything('Passed on: tools of type function or custom.', []),
    'tool_choice?': anything('Passed on.', 'auto'),
  }),
  ChatCompletion: object("OpenAI's answer, and the receipt.", {
    id: id('run', 'Id of the run.'),
    object: only('chat.completion'),
    created: integer('Unix seconds.', 1_785_585_600),
    model: text('The model.', echo),
    'system_fingerprint?': text("The upstream's.", 'fp_1'),
    choices: list(
      object('A choice.', {
        index: integer('Its place.', 0),
        message: object('What was said.', {
          role: only('assistant'),
          content: orNull(text('The text.', 'Every run leaves a receipt.')),
          'tool_calls?': anything('Calls of tools.', []),
          'refusal?': anything('Why the model declined.', null),
        }),
        finish_reason: orNull(text('`stop`, `length`, `tool_calls`, …', 'stop')),
        'logprobs?': anything('As the model gives them.', null),
      }),
      'As many as were asked for.',
    ),
    usage: object('What it used.', {
      prompt_tokens: tokens('Read.'),
      completion_tokens: tokens('Written.'),
      total_tokens: integer('Both. Tokens.', 10, { minimum: 0 }),
      cost_nusd: cost,
    }),
    receipt: ref('ReceiptLink'),
    'max_output_tokens?': fitted,
  }),
  EmbeddingRequest: object("OpenAI's request. Members that are not named here are ignored.", {
    model: text('An embedding model.', 'counterfoil/embed-1'),
    input: anything('Text, or a list of texts.', 'a receipt'),
    'encoding_format?': orNull(oneOf('Default: float.', ['float', 'base64'])),
    'dimensions?': orNull(integer('Where the model takes it.', 256, { minimum: 1 })),
  }),
  Embeddings: object("OpenAI's answer, and the receipt.", {
    object: only('list'),
    data: list(
      object('A vector.', {
        object: only('embedding'),
        index: integer('Of its text.', 0),
        embedding: anything('Numbers, or their bytes as base64.', [0.6, 0.8]),
      }),
      'One for each text.',
    ),
    model: text('The model.', 'counterfoil/embed-1'),
    usage: object('What it used.', {
      prompt_tokens: tokens('Read.'),
      total_tokens: tokens('The same.'),
      cost_nusd: cost,
    }),
    receipt: ref('ReceiptLink'),
  }),
  ReceiptLink: object('Where the receipt of a run is.', {
    id: id('rcpt', 'Id of the receipt.'),
    digest: hash('What was signed.'),
    url: text('The receipt file.', 'https://gw.example/v1/receipts/rcpt_…', { format: 'uri' }),
    cost_nusd: cost,
  }),
}

export const openaiArea: Area = {
  id: 'openai',
  group: 'programs',
  title: "OpenAI's routes",
  about:
    'Official clients work unchanged. Added to their answers: `usage.cost_nusd` and `receipt`. ' +
    'Every run is held for before it starts, charged once at its end, and leaves a receipt.',
  operations,
  schemas,
}
