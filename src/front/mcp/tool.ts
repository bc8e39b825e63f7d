/** Defines an MCP tool: its schemas, and the request to /v1 that it makes. */
import type { Json } from '../../kernel/canonical.ts'
import type { TSchema } from '../../web/http/shape.ts'

/** A tool as MCP clients see it, and the request to `/v1` that it is. */
export type Tool = {
  name: string
  title: string
  /** Written for the model that chooses among tools. */
  description: string
  /** Its arguments, which are checked before {@link Tool.toCall}. */
  input: TSchema
  /**
   * `reads` changes nothing and costs nothing, `adds` makes something or costs money, `ends` takes
   * away what cannot be brought back.
   */
  effect: 'reads' | 'adds' | 'ends'
  toCall(args: Arguments): Call
  /** Reads an answer in another format than JSON, or a part of it. @throws Refusal */
  read?(answer: Response, args: Arguments): Promise<Record<string, Json>>
}

export type Arguments = Readonly<Record<string, Json>>

/** A request to a route of ours. The path is encoded. */
export type Call = {
  method: 'GET' | 'POST'
  path: string
  body?: Json
  headers?: Readonly<Record<string, string>>
}
