/** What the stub of a model server sends, in each of the three protocols. */

export type Protocol = 'chat' | 'messages' | 'responses'

/** The frames of a stream, and a whole answer. */
export type Frames = {
  head: string
  token: string
  last: string
  lastWithUsage: string
  json: string
}

const inputTokens = 8
const known = new Map<string, Frames>()

/** @param tokens how many the answer has; each is a frame of its own in a stream. */
export function framesOf(protocol: Protocol, model: string, tokens: number): Frames {
  const name = `${protocol} ${model}`
  const found = known.get(name)
  if (found) return found
  const frames = writers[protocol](model, tokens)
  known.set(name, frames)
  return frames
}

const writers: Record<Protocol, (model: string, tokens: number) => Frames> = {
  chat: chatFrames,
  messages: messagesFrames,
  responses: responsesFrames,
}

function chatFrames(model: string, tokens: number): Frames {
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: tokens,
    total_tokens: inputTokens + tokens,
  }
  const base = { id: 'chatcmpl-stub', created: 1_795_222_222, model }
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...fields })}\n\n`
  const choice = (delta: object, finish_reason: string | null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  })
  const finish = chunk(choice({}, 'stop'))
  const done = 'data: [DONE]\n\n'
  const message = { role: 'assistant', content: ' token'.repeat(tokens) }
  return {
    head: chunk(choice({ role: 'assistant', content: '' }, null)),
    token: chunk(choice({ content: ' token' }, null)),
    last: finish + done,
    lastWithUsage: finish + chunk({ choices: [], usage }) + done,
    json: JSON.stringify({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage,
    }),
  }
}

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

function messagesFrames(model: string, tokens: number): Frames {
  const base = { id: 'msg_stub', type: 'message', role: 'assistant', model, stop_sequence: null }
  const usage = { input_tokens: inputTokens, output_tokens: 1 }
  const start = { ...base, content: [], stop_reason: null, usage }
  const whole = { ...usage, output_tokens: tokens }
  const end = { stop_reason: 'end_turn', stop_sequence: null }
  const last =
    event('content_block_stop', { index: 0 }) +
    event('message_delta', { delta: end, usage: { output_tokens: tokens } }) +
    event('message_stop', {})
  return {
    head:
      event('message_start', { message: start }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    token: event('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: ' token' },
    }),
    last,
    lastWithUsage: last,
    json: JSON.stringify({
      ...base,
      content: [{ type: 'text', text: ' token'.repeat(tokens) }],
      stop_reason: 'end_turn',
      usage: whole,
    }),
  }
}

function responsesFrames(model: string, tokens: number): Frames {
  const text = ' token'.repeat(tokens)
  const base = { id: 'resp_stub', object: 'response', created_at: 1_795_222_222, model }
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + tokens,
  }
  const part = { type: 'output_text', text, annotations: [] }
  const item = { id: 'msg_stub', type: 'message', role: 'assistant' }
  const done = { ...item, status: 'completed', content: [part] }
  const response = { ...base, status: 'completed', output: [done], usage }
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  const last =
    event('response.output_text.done', { sequence_number: 4, ...at, text }) +
    event('response.content_part.done', { sequence_number: 5, ...at, part }) +
    event('response.output_item.done', { sequence_number: 6, output_index: 0, item: done }) +
    event('response.completed', { sequence_number: 7, response })
  const open = { ...item, status: 'in_progress', content: [] }
  const begun = { ...base, status: 'in_progress', output: [] }
  return {
    head:
      event('response.created', { sequence_number: 0, response: begun }) +
      event('response.output_item.added', { sequence_number: 1, output_index: 0, item: open }) +
      event('response.content_part.added', {
        sequence_number: 2,
        ...at,
        part: { ...part, text: '' },
      }),
    token: event('response.output_text.delta', { sequence_number: 3, ...at, delta: ' token' }),
    last,
    lastWithUsage: last,
    json: JSON.stringify(response),
  }
}
