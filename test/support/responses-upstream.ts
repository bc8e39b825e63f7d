import type { JsonObject } from '../../src/kernel/json-object.ts'
import { pieces, sendJson, startJsonServer } from './messages-upstream.ts'

/** The usage that it reports: 30 tokens read, of these 20 from a cache, and 12 written. */
export const responsesUsage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 20 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 42,
}

/** The items of its answer: a call of the first tool if there are tools and no results yet. */
function itemsFor(body: JsonObject): JsonObject[] {
  const reasoning = { id: 'rs_far', type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' }
  const tools = body['tools'] as JsonObject[] | undefined
  const isDone = JSON.stringify(body['input']).includes('_call_output"')
  if (tools?.[0] && !isDone) {
    const call = { type: 'function_call', call_id: 'call_1', name: tools[0]['name'] ?? '' }
    return [
      reasoning,
      { id: 'fc_far', ...call, arguments: '{"city": "Rome"}', status: 'completed' },
    ]
  }
  const part = { type: 'output_text', text: pieces.join(''), annotations: [] }
  const message = { id: 'msg_far', type: 'message', role: 'assistant', status: 'completed' }
  return [reasoning, { ...message, content: [part] }]
}

const responseOf = (body: JsonObject, status: string, output: JsonObject[]): JsonObject => ({
  id: 'resp_far',
  object: 'response',
  created_at: 1,
  status,
  model: body['model'] ?? null,
  output,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  error: null,
  incomplete_details: null,
  usage: status === 'completed' ? responsesUsage : null,
})

/** Every event of a stream, as the server writes them. */
export function responseEvents(body: JsonObject): string[] {
  const items = itemsFor(body)
  const events: JsonObject[] = [
    { type: 'response.created', response: responseOf(body, 'in_progress', []) },
    { type: 'response.in_progress', response: responseOf(body, 'in_progress', []) },
  ]
  items.forEach((item, output_index) => {
    const of = { item_id: item['id'] ?? '', output_index }
    const add = (type: string, more: JsonObject) => events.push({ type, ...of, ...more })
    if (item['type'] === 'message') {
      events.push({
        type: 'response.output_item.added',
        output_index,
        item: { ...item, content: [] },
      })
      const part = { type: 'output_text', text: '', annotations: [] }
      add('response.content_part.added', { content_index: 0, part })
      for (const delta of pieces) add('response.output_text.delta', { content_index: 0, delta })
      add('response.output_text.done', { content_index: 0, text: pieces.join('') })
      add('response.content_part.done', {
        content_index: 0,
        part: { ...part, text: pieces.join('') },
      })
    } else if (item['type'] === 'function_call') {
      events.push({
        type: 'response.output_item.added',
        output_index,
        item: { ...item, arguments: '' },
      })
      for (const delta of ['{"city":', ' "Rome"}']) {
        add('response.function_call_arguments.delta', { delta })
      }
      add('response.function_call_arguments.done', { arguments: item['arguments'] ?? '' })
    } else events.push({ type: 'response.output_item.added', output_index, item })
    events.push({ type: 'response.output_item.done', output_index, item })
  })
  events.push({ type: 'response.completed', response: responseOf(body, 'completed', items) })
  return events.map((event, sequence_number) => {
    const data = JSON.stringify({ ...event, sequence_number })
    return `event: ${String(event['type'])}\ndata: ${data}\n\n`
  })
}

/** A server that speaks OpenAI's Responses API. */
export const startResponsesUpstream = () =>
  startJsonServer((body, response) => {
    if (body['stream'] !== true) {
      return sendJson(response, 200, responseOf(body, 'completed', itemsFor(body)))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(responseEvents(body).join(''))
  })
