/** What `/mcp` takes and answers, and the arguments of its tools: members of bodies of `/v1`. */
import { Type } from '@sinclair/typebox'
import { usageQuery } from '../../billing/usage/shapes.ts'
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

const { max_output_tokens, fit, input, messages, metadata, model, params, tags } =
  runBody.properties
const receiptId = t.text('Id of a receipt: rcpt_…', t.sampleIds.rcpt)

export const noInput = t.closed('', {})
export const receiptInput = t.closed('', { id: receiptId })
export const proofInput = t.closed('', { id: receiptId, 'size?': proofSize })

export const runInput = t.closed('', {
  ...{ model, input, messages, max_output_tokens, fit, params, tags, metadata },
  'idempotency_key?': t.text(
    'A run that is asked for again with it is not made and charged again.',
    'job-17',
    { pattern: '^[ -~]{1,128}$' },
  ),
})

export const verifyInput = t.closed('', {
  'id?': receiptId,
  'receipt?': t.map(Type.Unknown(), 'A receipt file, as get_receipt gives it.', {}),
  'chain?': chainChoice,
})

const { from, to, group_by } = usageQuery
export const usageInput = t.closed('', { 'from?': from, 'to?': to, 'group_by?': group_by })
