/** The MCP server: lists the tools and calls them. */
import {
  type CallToolResult,
  createMcpHandler,
  fromJsonSchema,
  type McpHttpHandler,
  McpServer,
} from '@modelcontextprotocol/server'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'
import type { Log } from '../../../kernel/log.ts'
import { Refusal, toErrorBody } from '../../../kernel/refusal.ts'
import { type Schema, spellShapes } from '../../../web/http/json-schema.ts'
import type { Arguments, Call } from '../tool.ts'
import { tools } from './tools.ts'

/** Sends a call of a tool to `/v1`, with the credentials of `outer`. */
export type Ask = (call: Call, outer: Request) => Promise<Response>

type Needs = { ask: Ask; log: Log; version: string }

/** The protocol, spoken in both of its generations. Loaded when it is first asked for. */
export const mcpServer = ({ ask, log, version }: Needs): McpHttpHandler => {
  // One for all requests: making one takes longer than most calls.
  const jsonSchemaValidator = new CfWorkerJsonSchemaValidator()
  const registered = tools.map((tool) => ({
    ...tool,
    schema: fromJsonSchema<Arguments>(spellShapes(tool.input, {}) as Schema, jsonSchemaValidator),
  }))
  return createMcpHandler(
    ({ requestInfo }) => {
      const info = { name: 'counterfoil', title: 'Counterfoil', version }
      const server = new McpServer(info, { instructions, jsonSchemaValidator })
      for (const { name, title, description, schema, isReading, toCall } of registered) {
        const annotations = { readOnlyHint: isReading, openWorldHint: !isReading }
        server.registerTool(
          name,
          { title, description, inputSchema: schema, annotations },
          (args: Arguments) => callTool({ ask, log }, toCall(args), requestInfo),
        )
      }
      return server
    },
    { onerror: (error) => log.warn('mcp.refused', { reason: error.message }) },
  )
}

const instructions =
  'A prepaid gateway to AI models: every run is charged to the key of this connection ' +
  '(Authorization: Bearer sk-service-…) and leaves a signed receipt. Money is in integer ' +
  'nano-USD: 1 USD is 1,000,000,000. list_models, verify_receipt, get_proof and get_receipt of ' +
  'shared receipts need no key. Errors have a type and say what to do next.'

/** What `/v1` answers is what the tool answers; what it refuses is an error of the tool. */
async function callTool(
  { ask, log }: Pick<Needs, 'ask' | 'log'>,
  call: Call,
  outer: Request | undefined,
): Promise<CallToolResult> {
  try {
    if (!outer) throw new Error('a call of a tool without its request')
    const answer = await ask(call, outer)
    return toResult(await answer.json(), !answer.ok)
  } catch (error) {
    log.error('mcp.failed', error)
    return toResult(toErrorBody(new Refusal('internal_error'), ''), true)
  }
}

const toResult = (body: Record<string, unknown>, isError: boolean): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  structuredContent: body,
  ...(isError ? { isError } : {}),
})
