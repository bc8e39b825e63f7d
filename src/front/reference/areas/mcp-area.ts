import type { Area } from '../operation.ts'
import { anything, object, only, ref, type Schema, type Schemas, text } from '../schema.ts'

const id: Schema = {
  description: 'Chosen by the caller; comes back with the answer. Without it: a notification.',
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  examples: [1],
}

const schemas: Schemas = {
  McpRequest: object('A JSON-RPC 2.0 message.', {
    jsonrpc: only('2.0'),
    'id?': id,
    method: text('`initialize`, `tools/list`, `tools/call`, `ping`, …', 'tools/list'),
    'params?': anything('What the method takes.', {}),
  }),
  McpAnswer: {
    description: 'A JSON-RPC 2.0 answer.',
    anyOf: [
      object('', { jsonrpc: only('2.0'), id, result: anything('What the method gives.', {}) }),
      object('', {
        jsonrpc: only('2.0'),
        'id?': { ...id, anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] },
        error: anything('`{code, message, data?}`', { code: -32601, message: 'Method not found' }),
      }),
    ],
  },
}

const headers = { Accept: 'application/json, text/event-stream' }

export const mcpArea: Area = {
  id: 'mcp',
  group: 'programs',
  title: 'Model Context Protocol',
  about:
    'The same as tools for agents: `list_models`, `run`, `get_receipt`, `verify_receipt`, ' +
    '`get_proof`, `key_self`, `usage`. Each is a request to `/v1` with the same key and limits.',
  operations: [
    {
      id: 'callMcp',
      route: 'POST /mcp',
      title: 'Send a message',
      about:
        'Streamable HTTP, without sessions. Tools that spend need a key; what they refuse is an ' +
        'error of the tool, in its result. A page of another origin is refused.',
      access: 'optional',
      body: { schema: ref('McpRequest') },
      examples: [
        {
          name: 'List the tools',
          body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          headers,
          status: 200,
        },
        {
          name: 'Call one',
          body: {
            jsonrpc: '2.0',
            id: 2,
            method: 'tools/call',
            params: { name: 'list_models', arguments: {} },
          },
          headers,
          status: 200,
        },
        {
          name: 'A notification',
          body: { jsonrpc: '2.0', method: 'notifications/initialized' },
          headers,
          status: 202,
        },
      ],
      answers: [
        {
          status: 200,
          about: 'The answer, as JSON or as one server-sent event.',
          content: {
            'application/json': { schema: ref('McpAnswer') },
            'text/event-stream': {
              schema: text('Server-sent events.', ''),
              sample: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n',
            },
          },
        },
        { status: 202, about: 'A notification was taken.', content: {} },
      ],
      refuses: ['csrf_failed', 'rate_limited'],
    },
  ],
  schemas,
}
