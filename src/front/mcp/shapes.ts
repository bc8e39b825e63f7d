/** The bodies of `/mcp`, and the arguments of its tools: members of bodies of `/v1`. */
import { Type } from '@sinclair/typebox'
import { mintBody } from '../../access/keys/api/key-body.ts'
import { quoteBody } from '../../billing/quotes/api/quote-body.ts'
import { exportQuery, usageQuery } from '../../billing/usage/api/usage-query.ts'
import { proofSize } from '../../proof/log/shapes.ts'
import { chainChoice } from '../../proof/receipts/shapes.ts'
import { runBody } from '../../runs/api/run-body.ts'
import * as t from '../../web/http/shape.ts'

const [whole, text] = [Type.Integer(), Type.String()]
const chosen = 'Chosen by the caller; comes back with the answer. Without it: a notification.'
const id = t.either(chosen, [whole, text], { examples: [1] })

export const mcpRequestShape = t.answer('McpRequest', 'A JSON-RPC 2.0 message.', {
  jsonrpc: t.only('2.0'),
  'id?': id,
  method: t.text('`initialize`, `tools/list`, `tools/call`, `ping`, …', 'tools/list'),
  'params?': t.anything('What the method takes.', {}),
})

export const mcpAnswerShape = t.choice('McpAnswer', 'A JSON-RPC 2.0 answer.', [
  t.object('', { jsonrpc: t.only('2.0'), id, result: t.anything('What the method gives.', {}) }),
  t.object('', {
    jsonrpc: t.only('2.0'),
    'id?': t.either(chosen, [whole, text, t.nothing], { examples: [1] }),
    error: t.anything('`{code, message, data?}`', { code: -32601, message: 'Method not found' }),
  }),
])

const { max_output_tokens, fit, input, metadata, model, params, tags } = runBody.properties
const receiptId = t.text('Id of a receipt: rcpt_…', t.sampleIds.rcpt)

export const modelsInput = t.closed('', {
  'filter?': t.text('A part of an id, name or alias, or a glob of one.', 'acme/*', {
    maxLength: 128,
  }),
  'limit?': t.integer('The most models of a page: 1 to 100; 50 when absent.', 50, {
    minimum: 1,
    maximum: 100,
  }),
  'cursor?': t.text('`next_cursor` of the page before.', 'acme/small'),
})
export const noInput = t.closed('', {})
export const receiptInput = t.closed('', { id: receiptId })
export const proofInput = t.closed('', { id: receiptId, 'size?': proofSize })

const keyId = t.sampleIds.key

const once = (about: string) => t.text(about, 'job-17', { pattern: '^[ -~]{1,128}$' })

export const runInput = t.closed('', {
  'messages?': t.list(t.anything('A message.', { role: 'user', content: 'Hello.' }), 'Of a chat.', {
    minItems: 1,
  }),
  ...{ model, input, max_output_tokens, fit, params, tags, metadata },
  'quote?': t.text('Id of a quote to be charged by: quote_…', t.sampleIds.quote),
  'idempotency_key?': once('A run that is asked for again with it is not made and charged again.'),
})

export const quoteInput = t.closed('', {
  ...quoteBody.properties,
  'idempotency_key?': once('A quote that is asked for again with it is not made again.'),
})

/** The `window` of a cap and the like keep their words; the door checks all of it again. */
export const mintInput = t.closed('', {
  ...mintBody.properties,
  'idempotency_key?': once('A key that is asked for again with it is not made again.'),
})

export const revokeInput = t.closed('', {
  id: t.text('Id of a key below this one: key_… `self` is the key of this connection.', keyId),
})

export const cancelInput = t.closed('', { id: t.text('Id of a run: run_…', t.sampleIds.run) })

const { format, as_of, ...exported } = exportQuery.parameters
export const exportInput = t.closed('', {
  'format?': format,
  'from?': exported.from,
  'to?': exported.to,
  'as_of?': as_of,
})

/** The answer of `export_usage` in place of a download. */
export const exportedShape = t.object('A file of usage, or its beginning.', {
  object: t.only('usage.export'),
  content_type: t.text('Of the file.', 'text/csv; charset=utf-8'),
  as_of: t.count('Leaves of the log it goes up to.', 12),
  text: t.text('The file, in whole lines.', 'time,run_id,…'),
  is_whole: t.flag('Whether it is all of it; if not, ask for a shorter range.', true),
})

export const verifyInput = t.closed('', {
  'id?': receiptId,
  'receipt?': t.map(Type.Unknown(), 'A receipt file, as get_receipt gives it.', {}),
  'quote?': t.map(Type.Unknown(), 'The quote that it names, as get_quote gave it.', {}),
  'chain?': chainChoice,
})

const { from, to, group_by } = usageQuery.parameters
export const usageInput = t.closed('', { 'from?': from, 'to?': to, 'group_by?': group_by })
