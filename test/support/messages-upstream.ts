import { createServer, type ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/kernel/json-object.ts'

/** One request as the server saw it. */
export type Seen = { path: string; headers: Record<string, unknown>; body: JsonObject }

/** What it says, in the pieces of a stream. */
export const pieces = ['Rome is', ' 31', ' degrees.']
export const thought = 'The user wants the weather.'
export const signature = 'c2lnbmVkIGJ5IHRoZSBzZXJ2ZXI='

/** The usage that it reports: 30 tokens read, of these 20 from a cache, and 12 written. */
export const messagesUsage = {
  input_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 20,
  output_tokens: 12,
  service_tier: 'standard',
}

/** The blocks of its answer: a call of the first tool if there are tools and no results yet. */
function blocksFor(body: JsonObject): JsonObject[] {
  const thinking = { type: 'thinking', thinking: thought, signature }
  const tools = body['tools'] as JsonObject[] | undefined
  const isDone = JSON.stringify(body['messages']).includes('"tool_result"')
  const before = body['thinking'] === undefined ? [] : [thinking]
  if (!tools?.[0] || isDone) return [...before, { type: 'text', text: pieces.join('') }]
  const call = {
    type: 'tool_use',
    id: 'toolu_1',
    name: tools[0]['name'] ?? '',
    input: { city: 'Rome' },
  }
  return [...before, call]
}

const stopOf = (blocks: JsonObject[]): string =>
  blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'

/** Every event of a stream, as the server writes them. */
export function eventsOf(body: JsonObject): string[] {
  const blocks = blocksFor(body)
  const { output_tokens: _, ...read } = messagesUsage
  const message = { id: 'msg_far', type: 'message', role: 'assistant', model: body['model'] }
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null }
  const events: JsonObject[] = [
    { type: 'message_start', message: { ...start, usage: { ...read, output_tokens: 1 } } } as never,
    { type: 'ping' },
    { type: 'a_new_event', unheard: 1.5 },
  ]
  blocks.forEach((block, index) => {
    const add = (delta: JsonObject) => events.push({ type: 'content_block_delta', index, delta })
    if (block['type'] === 'tool_use') {
      events.push({ type: 'content_block_start', index, content_block: { ...block, input: {} } })
      for (const partial_json of ['{"city":', ' "Rome"}']) {
        add({ type: 'input_json_delta', partial_json })
      }
    } else if (block['type'] === 'thinking') {
      const content_block = { type: 'thinking', thinking: '', signature: '' }
      events.push({ type: 'content_block_start', index, content_block })
      add({ type: 'thinking_delta', thinking: thought })
      add({ type: 'signature_delta', signature })
    } else {
      events.push({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
      for (const text of pieces) add({ type: 'text_delta', text })
    }
    events.push({ type: 'content_block_stop', index })
  })
  const delta = { stop_reason: stopOf(blocks), stop_sequence: null }
  events.push({ type: 'message_delta', delta, usage: { output_tokens: 12 } })
  events.push({ type: 'message_stop' })
  return events.map(
    (event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
  )
}

const wholeOf = (body: JsonObject): JsonObject => ({
  id: 'msg_far',
  type: 'message',
  role: 'assistant',
  model: body['model'] ?? null,
  content: blocksFor(body),
  stop_reason: stopOf(blocksFor(body)),
  stop_sequence: null,
  usage: messagesUsage,
})

/** A server that speaks Anthropic's Messages API; the model `refuse-<status>` refuses. */
export const startMessagesUpstream = () =>
  startJsonServer((body, response) => {
    const status = /^refuse-(\d+)$/.exec(String(body['model']))?.[1]
    if (status) return sendJson(response, Number(status), { type: 'error', error: { type: 'x' } })
    if (body['stream'] !== true) return sendJson(response, 200, wholeOf(body))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(eventsOf(body).join(''))
  })

export const sendJson = (response: ServerResponse, status: number, body: unknown): unknown =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A server on loopback that answers requests of JSON, and remembers them. */
export async function startJsonServer(
  answer: (body: JsonObject, response: ServerResponse) => unknown,
) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const body: JsonObject = text === '' ? {} : JSON.parse(text)
    seen.push({ path: request.url ?? '', headers: request.headers, body })
    answer(body, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    seen,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
