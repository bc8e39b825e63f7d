import type { Json } from '../../src/kernel/canonical.ts'
import type { JsonObject } from '../../src/kernel/json-object.ts'

/** A usage as Chat Completions has it; undefined for a server that reports none. */
type Reported = JsonObject | undefined

/** How a model server says one text in the protocol that it was asked in. */
export type Speech = {
  whole(text: string, usage: Reported): JsonObject
  /** What stands before the first word. */
  begin(usage: Reported): string
  word(content: string): string
  /** What says that the answer is whole, event by event. */
  end(usage: Reported): string[]
  /** The event without which a stream is not whole. */
  done(usage: Reported): string
  /** An error in band. */
  fault(message: string): string
}

/** The protocol of a path, by its last word. */
export function speechAt(path: string, model: string): Speech {
  if (path.endsWith('/messages')) return messagesSpeech(model)
  return path.endsWith('/responses') ? responsesSpeech(model) : chatSpeech(model)
}

const dataOf = (value: JsonObject | string): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

const eventOf = (event: JsonObject): string => `event: ${String(event['type'])}\n${dataOf(event)}`

function chatSpeech(model: string): Speech {
  const common = { id: 'chatcmpl-stub', created: 1_700_000_000, model }
  const chunk = (delta: JsonObject, reason: string | null): JsonObject => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  return {
    whole: (content, usage) => ({
      ...common,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      ...(usage ? { usage } : {}),
    }),
    begin: () => dataOf(chunk({ role: 'assistant', content: '' }, null)),
    word: (content) => dataOf(chunk({ content }, null)),
    end: (usage) => [
      dataOf(chunk({}, 'stop')),
      ...(usage ? [dataOf({ ...chunk({}, null), choices: [], usage })] : []),
    ],
    done: () => dataOf('[DONE]'),
    fault: (message) => dataOf({ error: { message } }),
  }
}

function messagesSpeech(model: string): Speech {
  const head: JsonObject = { id: 'msg_stub', type: 'message', role: 'assistant', model }
  const usageOf = (usage: Reported): JsonObject =>
    usage ? { usage: { input_tokens: usage['prompt_tokens'] ?? null } } : {}
  const said = (usage: Reported): JsonObject =>
    usage ? { usage: { output_tokens: usage['completion_tokens'] ?? null } } : {}
  const ending: JsonObject = { stop_reason: 'end_turn', stop_sequence: null }
  return {
    whole: (text, usage) => ({
      ...head,
      content: [{ type: 'text', text }],
      ...ending,
      ...(usage
        ? { usage: { ...Object(usageOf(usage)['usage']), ...Object(said(usage)['usage']) } }
        : {}),
    }),
    begin: (usage) =>
      eventOf({ type: 'message_start', message: { ...head, content: [], ...usageOf(usage) } }) +
      eventOf({ type: 'ping' }) +
      eventOf({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    word: (text) =>
      eventOf({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    end: (usage) => [
      eventOf({ type: 'content_block_stop', index: 0 }),
      eventOf({ type: 'message_delta', delta: ending, ...said(usage) }),
    ],
    done: () => eventOf({ type: 'message_stop' }),
    fault: (message) => eventOf({ type: 'error', error: { type: 'api_error', message } }),
  }
}

function responsesSpeech(model: string): Speech {
  const item = (text: string, status: string): JsonObject => ({
    id: 'msg_stub',
    type: 'message',
    role: 'assistant',
    status,
    content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
  })
  const usageOf = (usage: Reported): Json =>
    usage
      ? {
          input_tokens: usage['prompt_tokens'] ?? null,
          output_tokens: usage['completion_tokens'] ?? null,
        }
      : null
  const response = (status: string, output: JsonObject[], usage: Reported): JsonObject => ({
    id: 'resp_stub',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model,
    output,
    error: null,
    usage: usageOf(usage),
  })
  const at: JsonObject = { item_id: 'msg_stub', output_index: 0, content_index: 0 }
  let said = ''
  let count = 0
  const event = (fields: JsonObject): string => eventOf({ ...fields, sequence_number: count++ })
  return {
    whole: (text, usage) => response('completed', [item(text, 'completed')], usage),
    begin: () =>
      event({ type: 'response.created', response: response('in_progress', [], undefined) }) +
      event({
        type: 'response.output_item.added',
        output_index: 0,
        item: item('', 'in_progress'),
      }) +
      event({
        type: 'response.content_part.added',
        ...at,
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    word(delta) {
      said += delta
      return event({ type: 'response.output_text.delta', ...at, delta })
    },
    end: () => [
      event({ type: 'response.output_text.done', ...at, text: said }),
      event({
        type: 'response.output_item.done',
        output_index: 0,
        item: item(said, 'completed'),
      }),
    ],
    done: (usage) =>
      event({
        type: 'response.completed',
        response: response('completed', [item(said, 'completed')], usage),
      }),
    fault: (message) => event({ type: 'error', code: 'server_error', message, param: null }),
  }
}
