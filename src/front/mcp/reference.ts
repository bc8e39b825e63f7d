/** Reference entries of the Model Context Protocol. */
import * as r from '../../web/reference/entry.ts'
import { mcpAnswerShape, mcpRequestShape } from './shapes.ts'

const headers = { Accept: 'application/json, text/event-stream' }
const call = { name: 'list_models', arguments: {} }

export const mcpArea = r.area('mcp', 'programs', 'Model Context Protocol', {
  about:
    'The same as tools for agents: `list_models`, `run`, `get_quote`, `cancel_run`, ' +
    '`get_receipt`, `verify_receipt`, `get_proof`, `key_self`, `mint_key`, `revoke_key`, ' +
    '`usage`, `export_usage`. Each is a request to `/v1` with the same key and limits.',
  operations: [
    r.entriesUnder('').post('callMcp', '/mcp', 'Send a message', {
      about:
        'Streamable HTTP, without sessions. Tools that spend need a key; what they refuse is an ' +
        'error of the tool, in its result. A page of another origin is refused.',
      access: 'optional',
      body: mcpRequestShape,
      examples: [
        { name: 'List the tools', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers },
        {
          name: 'Call one',
          body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
          headers,
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
            ...r.json(mcpAnswerShape),
            ...r.media(
              'text/event-stream',
              'Server-sent events.',
              'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n',
            ),
          },
        },
        { status: 202, about: 'A notification was taken.', content: {} },
      ],
      refuses: ['csrf_failed', 'rate_limited'],
    }),
  ],
})
