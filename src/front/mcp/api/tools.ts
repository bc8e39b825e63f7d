/** The tools that an agent finds here by MCP, each a request to `/v1`. */
import type { Json } from '../../../kernel/canonical.ts'
import {
  cancelInput,
  exportInput,
  mintInput,
  modelsInput,
  noInput,
  proofInput,
  quoteInput,
  receiptInput,
  revokeInput,
  runInput,
  usageInput,
  verifyInput,
} from '../shapes.ts'
import type { Arguments, Call, Tool } from '../tool.ts'
import { readExport } from './read-export.ts'
import { readModels } from './read-models.ts'

const listModels: Tool = {
  name: 'list_models',
  title: 'List models',
  description:
    'The models there are, with prices in pico-USD a token, at most 50 at once. "filter" is a ' +
    'part of an id or name, or a glob such as acme/*. Needs no key.',
  input: modelsInput,
  effect: 'reads',
  toCall: () => get('/v1/models'),
  read: readModels,
}

const run: Tool = {
  name: 'run',
  title: 'Run a model',
  description:
    'Runs a model once and gives its output, its cost in nano-USD and its signed receipt. Costs ' +
    'money of the key. Send "input" or "messages". A 402 is final: lower max_output_tokens, or ' +
    'ask for fit.',
  input: runInput,
  effect: 'adds',
  toCall: ({ quote, ...args }) => {
    const call = postOnce('/v1/runs', args)
    if (typeof quote !== 'string') return call
    return { ...call, headers: { ...call.headers, 'x-counterfoil-quote': quote } }
  },
}

const getQuote: Tool = {
  name: 'get_quote',
  title: 'Get a quote',
  description:
    'Signs the prices of now for a run of so many tokens, for up to an hour, with the most that ' +
    'it can cost in nano-USD. Reserves no money. Give its id to "run" as "quote", and keep it ' +
    'for "verify_receipt".',
  input: quoteInput,
  effect: 'adds',
  toCall: (args) => postOnce('/v1/quotes', args),
}

const cancelRun: Tool = {
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Stops a run of this key or of a key below it. What it delivered is charged. A run that ' +
    'ended is a conflict.',
  input: cancelInput,
  effect: 'ends',
  toCall: ({ id }) => ({ method: 'POST', path: `/v1/runs/${segment(id)}/cancel` }),
}

const mintKey: Tool = {
  name: 'mint_key',
  title: 'Make a key',
  description:
    'Makes a key below this one, with at most its cap, expiry, scopes, models and networks. What ' +
    'it spends counts against this key too. The secret is in this answer and nowhere else: hand ' +
    'it on and do not repeat it. Needs the scope keys:mint.',
  input: mintInput,
  effect: 'adds',
  toCall: (args) => postOnce('/v1/keys', args),
}

const revokeKey: Tool = {
  name: 'revoke_key',
  title: 'Revoke a key',
  description:
    'Ends a key below this one, all keys below that, and their runs, for good. Needs the scope ' +
    'keys:mint. "self" ends the key of this connection.',
  input: revokeInput,
  effect: 'ends',
  toCall: ({ id }) => ({ method: 'POST', path: `/v1/keys/${segment(id)}/revoke` }),
}

const getReceipt: Tool = {
  name: 'get_receipt',
  title: 'Get a receipt',
  description:
    'The receipt file of a run. Without a key, or with one of another account: a shared receipt ' +
    'as its owner shows it.',
  input: receiptInput,
  effect: 'reads',
  toCall: ({ id }) => get(`/v1/receipts/${segment(id)}`),
}

const verifyReceipt: Tool = {
  name: 'verify_receipt',
  title: 'Verify a receipt',
  description:
    'Checks a receipt file, or a shared receipt by its id, and says what holds: signature, log, ' +
    'anchor. Needs no key. Send "id" or "receipt".',
  input: verifyInput,
  effect: 'reads',
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
  effect: 'reads',
  toCall: ({ id, size }) => get(`/v1/receipts/${segment(id)}/proof`, { size }),
}

const keySelf: Tool = {
  name: 'key_self',
  title: 'Check the budget',
  description:
    'The key of this connection: its cap and what is left of it, its account, every key above ' +
    'it, and what would refuse its next call. Amounts in nano-USD.',
  input: noInput,
  effect: 'reads',
  toCall: () => get('/v1/keys/self'),
}

const usage: Tool = {
  name: 'usage',
  title: 'Usage',
  description: 'What the key and the keys below it used, as sums. Costs in nano-USD.',
  input: usageInput,
  effect: 'reads',
  toCall: ({ from, to, group_by }) => get('/v1/usage', { from, to, group_by }),
}

const exportUsage: Tool = {
  name: 'export_usage',
  title: 'Export usage',
  description:
    'Usage run by run as CSV, JSON lines or FOCUS 1.2, at most 256 KiB of it. Ask for a range ' +
    'of time with "from" and "to".',
  input: exportInput,
  effect: 'reads',
  toCall: ({ format, from, to, as_of }) => get('/v1/usage/export', { format, from, to, as_of }),
  read: readExport,
}

/** The tools of MCP: the same as `/v1`, with the same limits. */
export const tools: readonly Tool[] = [
  listModels,
  run,
  getQuote,
  cancelRun,
  getReceipt,
  verifyReceipt,
  getProof,
  keySelf,
  mintKey,
  revokeKey,
  usage,
  exportUsage,
]

/** A POST that is made once for all calls with the same `idempotency_key`. */
const postOnce = (path: string, { idempotency_key: once, ...body }: Arguments): Call => ({
  method: 'POST',
  path,
  body,
  ...(typeof once === 'string' ? { headers: { 'idempotency-key': once } } : {}),
})

function get(path: string, query: Arguments | Record<string, Json | undefined> = {}): Call {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(given).toString()
  return { method: 'GET', path: search === '' ? path : `${path}?${search}` }
}

const segment = (value: Json | undefined): string => encodeURIComponent(String(value))
