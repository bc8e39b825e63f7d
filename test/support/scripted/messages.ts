/** Reads and writes Anthropic's Messages as a model server does. */
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import type { Turn, Wire } from '../scripted-upstream.ts'
import { eventOf, idOf, listOf, sum, unit } from './members.ts'

const signature = 'c2lnbmVkIGJ5IHRoZSBzZXJ2ZXI='

function blocksOf({ thought, words, calls }: Turn): JsonObject[] {
  return [
    ...(thought ? [{ type: 'thinking', thinking: thought, signature }] : []),
    ...(words.length > 0 ? [{ type: 'text', text: words.join('') }] : []),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ]
}
const stopOf = ({ calls }: Turn) => (calls.length > 0 ? 'tool_use' : 'end_turn')

/** What a block is when it begins, and the deltas that fill it. */
function piecesOf(block: JsonObject, { words }: Turn): [start: JsonObject, deltas: JsonObject[]] {
  if (block['type'] === 'text') {
    const deltas = words.map((text) => ({ type: 'text_delta', text }))
    return [{ type: 'text', text: '' }, deltas]
  }
  if (block['type'] === 'thinking') {
    const thinking = { type: 'thinking_delta', thinking: block['thinking'] ?? '' }
    const start = { type: 'thinking', thinking: '', signature: '' }
    return [start, [thinking, { type: 'signature_delta', signature }]]
  }
  const parts = JSON.stringify(block['input']).match(/.{1,40}/gs) ?? []
  const deltas = parts.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  return [{ ...block, input: {} }, deltas]
}

export const messagesWire: Wire = {
  // Reasoning is in the output, and so are images in the input.
  meters: ['cache_read', 'cache_write', 'cache_write_1h'],
  read(body) {
    const messages = listOf(body['messages'])
    const text = JSON.stringify(messages)
    const config = body['output_config'] as JsonObject | undefined
    return {
      model: String(body['model']),
      tools: listOf(body['tools']).map(({ name }) => String(name)),
      turns: messages.filter(({ role }) => role === 'assistant').length,
      hasResults: JSON.stringify(messages.at(-1) ?? '').includes('"tool_result"'),
      hasImage: text.includes('"type":"image"'),
      isJson: config?.['format'] !== undefined,
      stream: body['stream'] === true,
      text,
    }
  },
  usage: (units) => ({
    input_tokens: unit(units, 'input'),
    cache_creation_input_tokens: sum(units, ['cache_write', 'cache_write_1h']),
    cache_read_input_tokens: unit(units, 'cache_read'),
    cache_creation: {
      ephemeral_5m_input_tokens: unit(units, 'cache_write'),
      ephemeral_1h_input_tokens: unit(units, 'cache_write_1h'),
    },
    output_tokens: unit(units, 'output'),
    service_tier: 'standard',
  }),
  whole: (turn, usage, model) => ({
    id: idOf('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: blocksOf(turn),
    stop_reason: stopOf(turn),
    stop_sequence: null,
    usage,
  }),
  begin(usage, model) {
    const message = { id: idOf('msg'), type: 'message', role: 'assistant', model, content: [] }
    const open = { stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } }
    return (
      eventOf({ type: 'message_start', message: { ...message, ...open } }) +
      eventOf({ type: 'ping' }) +
      eventOf({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
    )
  },
  word: (text) =>
    eventOf({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  stream(turn, usage, model) {
    const [start = ''] = this.begin(usage, model).split('event: content_block_start')
    const events = [start]
    blocksOf(turn).forEach((block, index) => {
      const [content_block, deltas] = piecesOf(block, turn)
      events.push(eventOf({ type: 'content_block_start', index, content_block }))
      for (const delta of deltas)
        events.push(eventOf({ type: 'content_block_delta', index, delta }))
      events.push(eventOf({ type: 'content_block_stop', index }))
    })
    const delta = { stop_reason: stopOf(turn), stop_sequence: null }
    const { output_tokens = 0 } = usage
    events.push(eventOf({ type: 'message_delta', delta, usage: { output_tokens } }))
    events.push(eventOf({ type: 'message_stop' }))
    return events
  },
}
