/** What `/mcp` takes and answers. */
import { Type } from '@sinclair/typebox'
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
