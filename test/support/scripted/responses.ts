/** Reads and writes OpenAI's Responses as a model server does. */
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import type { Turn, Wire } from '../scripted-upstream.ts'
import { eventOf, idOf, listOf, sum, unit } from './members.ts'

function itemsOf({ thought, words, calls }: Turn): JsonObject[] {
  const part = { type: 'output_text', text: words.join(''), annotations: [] }
  const sealed = { id: idOf('rs'), type: 'reasoning', encrypted_content: 'c2VhbGVk' }
  const message = { id: idOf('msg'), type: 'message', role: 'assistant', status: 'completed' }
  return [
    ...(thought ? [{ ...sealed, summary: [{ type: 'summary_text', text: thought }] }] : []),
    ...(words.length > 0 ? [{ ...message, content: [part] }] : []),
    ...calls.map(({ id, name, args }) => ({
      id: idOf('fc'),
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    })),
  ]
}

const responseOf = (model: string, output: JsonObject[], usage: JsonObject | null): JsonObject => ({
  id: 'resp_far',
  object: 'response',
  created_at: 1,
  status: usage ? 'completed' : 'in_progress',
  model,
  output,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  error: null,
  incomplete_details: null,
  // It was asked to store nothing.
  store: false,
  usage,
})

/** Every event of an item, by the words of a message or the halves of a call's arguments. */
function eventsOf(item: JsonObject, output_index: number, words: string[]): JsonObject[] {
  const of = { item_id: item['id'] ?? '', output_index }
  const added = (empty: JsonObject): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...empty },
  })
  const done: JsonObject = { type: 'response.output_item.done', output_index, item }
  if (item['type'] === 'message') {
    const text = words.join('')
    const at = { ...of, content_index: 0 }
    const part = { type: 'output_text', text, annotations: [] }
    const delta = (word: string) => ({ type: 'response.output_text.delta', ...at, delta: word })
    return [
      added({ content: [], status: 'in_progress' }),
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      ...words.map(delta),
      { type: 'response.output_text.done', ...at, text },
      { type: 'response.content_part.done', ...at, part },
      done,
    ]
  }
  if (item['type'] === 'function_call') {
    const name = 'response.function_call_arguments'
    const all = String(item['arguments'])
    const deltas = all.match(/.{1,40}/gs) ?? []
    return [
      added({ arguments: '', status: 'in_progress' }),
      ...deltas.map((delta) => ({ type: `${name}.delta`, ...of, delta })),
      { type: `${name}.done`, ...of, arguments: all },
      done,
    ]
  }
  return [added({}), done]
}

const numbered = (events: JsonObject[]): string[] =>
  events.map((event, sequence_number) => eventOf({ ...event, sequence_number }))

export const responsesWire: Wire = {
  meters: ['cache_read', 'cache_write', 'image_input', 'reasoning'],
  read(body) {
    const items = listOf(body['input'])
    const text = JSON.stringify(body['input'])
    const { format } = (body['text'] ?? {}) as JsonObject
    return {
      model: String(body['model']),
      tools: listOf(body['tools']).map(({ name }) => String(name)),
      turns: items.filter(({ role, type }) => role === 'assistant' || type === 'function_call')
        .length,
      hasResults: String(items.at(-1)?.['type']).endsWith('_call_output'),
      hasImage: text.includes('"input_image"'),
      isJson: (format as JsonObject | undefined)?.['type'] === 'json_schema',
      stream: body['stream'] === true,
      text,
    }
  },
  usage(units) {
    const input = sum(units, ['input', 'cache_read', 'cache_write', 'image_input'])
    const output = sum(units, ['output', 'reasoning'])
    return {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: unit(units, 'cache_read'),
        cache_write_tokens: unit(units, 'cache_write'),
        image_tokens: unit(units, 'image_input'),
      },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: unit(units, 'reasoning') },
      total_tokens: input + output,
    }
  },
  whole: (turn, usage, model) => responseOf(model, itemsOf(turn), usage),
  begin(_, model) {
    const response = responseOf(model, [], null)
    const [added, part] = eventsOf({ id: 'msg_far', type: 'message', role: 'assistant' }, 0, [])
    const created = { type: 'response.created', response }
    return numbered([created, ...(added ? [added] : []), ...(part ? [part] : [])]).join('')
  },
  word: (delta) =>
    eventOf({
      type: 'response.output_text.delta',
      item_id: 'msg_far',
      output_index: 0,
      content_index: 0,
      delta,
    }),
  stream(turn, usage, model) {
    const items = itemsOf(turn)
    const response = responseOf(model, [], null)
    return numbered([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
      ...items.flatMap((item, at) => eventsOf(item, at, turn.words)),
      { type: 'response.completed', response: responseOf(model, items, usage) },
    ])
  },
}
