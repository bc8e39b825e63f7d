import type { Json } from '../../kernel/canonical.ts'
import type { Arguments, Call, Tool } from './tool.ts'

type Properties = Record<string, { [keyword: string]: Json }>

const text = (description: string) => ({ type: 'string', description })

const object = (properties: Properties, required: string[] = []): Tool['input'] => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const receiptId = text('Id of a receipt: rcpt_…')

const listModels: Tool = {
  name: 'list_models',
  title: 'List models',
  description: 'The models there are, with prices in pico-USD a token. Needs no key.',
  input: object({}),
  isReading: true,
  toCall: () => get('/v1/models'),
}

const run: Tool = {
  name: 'run',
  title: 'Run a model',
  description:
    'Runs a model once and gives its output, its cost in nano-USD and its signed receipt. Costs ' +
    'money of the key. Send "input" or "messages". A 402 is final: lower max_output_tokens, or ' +
    'ask for fit.',
  input: object(
    {
      model: text('Id of a model of list_models.'),
      input: { description: 'The text; a list of texts for an embedding.' },
      messages: { type: 'array', description: "A chat, in OpenAI's shape.", minItems: 1 },
      max_output_tokens: { type: 'integer', minimum: 1, description: 'Bounds what it may cost.' },
      fit: { type: 'boolean', description: 'Lower the most tokens to what can be afforded.' },
      params: { type: 'object', description: "OpenAI's options: temperature, tools, …" },
      tags: { type: 'object', description: 'At most 8 texts by name, noted with the run.' },
      metadata: { type: 'object', description: 'Noted with the run; at most 4,096 bytes.' },
      idempotency_key: {
        ...text('A run that is asked for again with it is not made and charged again.'),
        pattern: '^[ -~]{1,128}$',
      },
    },
    ['model'],
  ),
  isReading: false,
  toCall: ({ idempotency_key: once, ...body }) => ({
    method: 'POST',
    path: '/v1/runs',
    body,
    ...(typeof once === 'string' ? { headers: { 'idempotency-key': once } } : {}),
  }),
}

const getReceipt: Tool = {
  name: 'get_receipt',
  title: 'Get a receipt',
  description:
    'The receipt file of a run. Without a key, or with one of another account: a shared receipt ' +
    'as its owner shows it.',
  input: object({ id: receiptId }, ['id']),
  isReading: true,
  toCall: ({ id }) => get(`/v1/receipts/${segment(id)}`),
}

const verifyReceipt: Tool = {
  name: 'verify_receipt',
  title: 'Verify a receipt',
  description:
    'Checks a receipt file, or a shared receipt by its id, and says what holds: signature, log, ' +
    'anchor. Needs no key. Send "id" or "receipt".',
  input: object({
    id: receiptId,
    receipt: { type: 'object', description: 'A receipt file, as get_receipt gives it.' },
    chain: {
      type: 'string',
      enum: ['auto', 'skip', 'require'],
      description: 'Whether the chain is asked. Default: auto.',
    },
  }),
  isReading: true,
  toCall: ({ chain, ...what }) => ({
    method: 'POST',
    path: '/v1/receipts/verify',
    body: { ...what, ...(chain === undefined ? {} : { options: { chain } }) },
  }),
}

const getProof: Tool = {
  name: 'get_proof',
  title: 'Get a proof',
  description: 'That a receipt is in the append-only log: hashes only. Needs no key.',
  input: object(
    {
      id: receiptId,
      size: { type: 'integer', minimum: 1, description: 'A size of the log that was signed.' },
    },
    ['id'],
  ),
  isReading: true,
  toCall: ({ id, size }) => get(`/v1/receipts/${segment(id)}/proof`, { size }),
}

const keySelf: Tool = {
  name: 'key_self',
  title: 'Check the budget',
  description:
    'The key of this connection: its cap and what is left of it, its account, every key above ' +
    'it, and what would refuse its next call. Amounts in nano-USD.',
  input: object({}),
  isReading: true,
  toCall: () => get('/v1/keys/self'),
}

const usage: Tool = {
  name: 'usage',
  title: 'Usage',
  description: 'What the key and the keys below it used, as sums. Costs in nano-USD.',
  input: object({
    from: text('A date (UTC) or an RFC 3339 time. Default: 29 days ago.'),
    to: text('A date, which is included, or a time. Default: today.'),
    group_by: text('One or more of day, key, model, tag, with commas. Default: day.'),
  }),
  isReading: true,
  toCall: ({ from, to, group_by }) => get('/v1/usage', { from, to, group_by }),
}

/** What an agent can do here by MCP: the same as by `/v1`, with the same limits. */
export const tools: readonly Tool[] = [
  listModels,
  run,
  getReceipt,
  verifyReceipt,
  getProof,
  keySelf,
  usage,
]

function get(path: string, query: Arguments | Record<string, Json | undefined> = {}): Call {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(given).toString()
  return { method: 'GET', path: search === '' ? path : `${path}?${search}` }
}

const segment = (value: Json | undefined): string => encodeURIComponent(String(value))
