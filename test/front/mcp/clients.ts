import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** What a tool answered: the error of a refusal, or the body of the answer. */
export type Result = { isError: boolean; body: Record<string, unknown>; text: string }

/** An official client as it comes, connected. */
export type Connected = {
  tools(): Promise<{ name: string; inputSchema: unknown }[]>
  call(name: string, args?: Record<string, unknown>): Promise<Result>
  close(): Promise<void>
}

const info = { name: 'test', version: '1.0.0' }

/** Clients of both generations, by name. */
export const clients = {
  async 'client v2'(origin: string, secret?: string): Promise<Connected> {
    const client = new ClientV2(info)
    await client.connect(new HttpV2(new URL(`${origin}/mcp`), optionsOf(secret)))
    return {
      tools: async () => (await client.listTools()).tools,
      call: async (name, args = {}) => resultOf(await client.callTool({ name, arguments: args })),
      close: () => client.close(),
    }
  },
  async 'client v1'(origin: string, secret?: string): Promise<Connected> {
    const client = new ClientV1(info)
    await client.connect(new HttpV1(new URL(`${origin}/mcp`), optionsOf(secret)))
    return {
      tools: async () => (await client.listTools()).tools,
      call: async (name, args = {}) => resultOf(await client.callTool({ name, arguments: args })),
      close: () => client.close(),
    }
  },
}

const optionsOf = (secret?: string) =>
  secret === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${secret}` } } }

function resultOf(result: unknown): Result {
  const { content, structuredContent, isError } = result as {
    content: { text: string }[]
    structuredContent?: Record<string, unknown>
    isError?: boolean
  }
  return { isError: isError === true, body: structuredContent ?? {}, text: content[0]?.text ?? '' }
}
