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
import type { Arguments, Call, Tool } from '../tool.ts'
import { tools } from './tools.ts'

/** Sends a call of a tool to `/v1`, with the credentials of `outer`. */
export type CallSender = (call: Call, outer: Request) => Promise<Response>

type Needs = { ask: CallSender; log: Log; version: string }

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
      for (const { name, title, description, schema, effect, toCall, read } of registered) {
        const annotations = hintsOf[effect]
        server.registerTool(
          name,
          { title, description, inputSchema: schema, annotations },
          (args: Arguments) =>
            callTool(
              { ask, log, read: read && ((answer) => read(answer, args)) },
              toCall(args),
              requestInfo,
            ),
        )
      }
      return server
    },
    { onerror: (error) => log.warn('mcp.refused', { reason: error.message }) },
  )
}

/** Hints that clients show a person before a tool is used, or ask about. */
const hintsOf = {
  reads: { readOnlyHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  ends: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
} as const

const instructions =
  'A prepaid gateway to AI models: every run is charged to the key of this connection ' +
  '(Authorization: Bearer sk-service-…) and leaves a signed receipt. Money is in integer ' +
  'nano-USD: 1 USD is 1,000,000,000. list_models, verify_receipt, get_proof and get_receipt of ' +
  'shared receipts need no key. mint_key makes a key with a smaller cap for another agent: its ' +
  'secret is shown once. Errors have a type and say what to do next.'

type AnswerReader = (answer: Response) => ReturnType<NonNullable<Tool['read']>>

/** What `/v1` answers is what the tool answers; what it refuses is an error of the tool. */
async function callTool(
  { ask, log, read }: Pick<Needs, 'ask' | 'log'> & { read: AnswerReader | undefined },
  call: Call,
  outer: Request | undefined,
): Promise<CallToolResult> {
  try {
    if (!outer) throw new Error('a call of a tool without its request')
    const answer = await ask(call, outer)
    const body = read && answer.ok ? await read(answer) : await answer.json()
    return toResult(body, !answer.ok)
  } catch (error) {
    if (error instanceof Refusal) return toResult(toErrorBody(error, ''), true)
    log.error('mcp.failed', error)
    return toResult(toErrorBody(new Refusal('internal_error'), ''), true)
  }
}

const toResult = (body: Record<string, unknown>, isError: boolean): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  structuredContent: body,
  ...(isError ? { isError } : {}),
})
