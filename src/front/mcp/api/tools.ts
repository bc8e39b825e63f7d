/** The tools that an agent finds here by MCP, each a request to `/v1`. */
import type { Json } from '../../../kernel/canonical.ts'
import { noInput, proofInput, receiptInput, runInput, usageInput, verifyInput } from '../shapes.ts'
import type { Arguments, Call, Tool } from '../tool.ts'

const listModels: Tool = {
  name: 'list_models',
  title: 'List models',
  description: 'The models there are, with prices in pico-USD a token. Needs no key.',
  input: noInput,
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
  input: runInput,
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
  input: receiptInput,
  isReading: true,
  toCall: ({ id }) => get(`/v1/receipts/${segment(id)}`),
}

const verifyReceipt: Tool = {
  name: 'verify_receipt',
  title: 'Verify a receipt',
  description:
    'Checks a receipt file, or a shared receipt by its id, and says what holds: signature, log, ' +
    'anchor. Needs no key. Send "id" or "receipt".',
  input: verifyInput,
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
  input: proofInput,
  isReading: true,
  toCall: ({ id, size }) => get(`/v1/receipts/${segment(id)}/proof`, { size }),
}

const keySelf: Tool = {
  name: 'key_self',
  title: 'Check the budget',
  description:
    'The key of this connection: its cap and what is left of it, its account, every key above ' +
    'it, and what would refuse its next call. Amounts in nano-USD.',
  input: noInput,
  isReading: true,
  toCall: () => get('/v1/keys/self'),
}

const usage: Tool = {
  name: 'usage',
  title: 'Usage',
  description: 'What the key and the keys below it used, as sums. Costs in nano-USD.',
  input: usageInput,
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
