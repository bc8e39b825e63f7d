/** Reads answers of Anthropic's Messages API, whole or as events, as those of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import { type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { mergeUsage } from '../../usage-merge.ts'
import { objectsIn, textOf } from '../reading.ts'
import { formats } from '../reasoning-details.ts'

/** A map: the word comes from a model server, and an object has members of its own. */
const reasons = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

const finishReason = (reason: Json | undefined): string => reasons.get(textOf(reason)) ?? 'stop'

/** A whole answer; undefined for other JSON. Its `usage` stays as it is written. */
export function messageToChat(answer: JsonObject): JsonObject | undefined {
  if (answer['type'] !== 'message' || !Array.isArray(answer['content'])) return undefined
  const calls: JsonObject[] = []
  const details: JsonObject[] = []
  let content: string | null = null
  let reasoning = ''
  for (const block of objectsIn(answer['content'])) {
    const { type } = block
    if (type === 'text') content = (content ?? '') + textOf(block['text'])
    else if (type === 'tool_use') calls.push(callOf(block, JSON.stringify(block['input'] ?? {})))
    else if (type === 'thinking') {
      reasoning += textOf(block['thinking'])
      details.push(signedDetail(textOf(block['thinking']), textOf(block['signature'])))
    } else if (type === 'redacted_thinking') details.push(redactedDetail(block))
  }
  const message: JsonObject = { role: 'assistant', content }
  if (calls.length > 0) message['tool_calls'] = calls
  if (reasoning !== '') message['reasoning_content'] = reasoning
  if (details.length > 0) message['reasoning_details'] = details
  const finish_reason = finishReason(answer['stop_reason'])
  const { usage = null } = answer
  const { service_tier = null } = objectOf(usage)
  return { choices: [{ index: 0, message, finish_reason }], usage, service_tier }
}

const callOf = (block: JsonObject, args: string): JsonObject => ({
  id: textOf(block['id']),
  type: 'function',
  function: { name: textOf(block['name']), arguments: args },
})

const format = formats.messages

const signedDetail = (text: string, signature: string): JsonObject => ({
  type: 'reasoning.text',
  text,
  signature,
  format,
})

const redactedDetail = ({ data }: JsonObject): JsonObject => ({
  type: 'reasoning.encrypted',
  data: data ?? '',
  format,
})

/** An event of a stream in the shape of Chat Completions. */
export type ReadEvent = { chunk?: JsonObject; isEnd?: boolean; isError?: boolean }

/** Reads the events of one stream, in order. */
export class MessageReader {
  private usage: JsonObject = {}
  /** The place among the calls of each block that is one. */
  private readonly calls = new Map<Json | undefined, number>()
  /** The text of the block of thinking that is open. */
  private thinking = ''

  read(event: JsonObject): ReadEvent {
    switch (event['type']) {
      case 'message_start': {
        const { usage } = objectOf(event['message'])
        this.usage = objectOf(mergeUsage(undefined, usage))
        const choices = [
          { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
        ]
        return { chunk: { choices, usage: this.usage } }
      }
      case 'content_block_start':
        return this.begin(event['index'], objectOf(event['content_block']))
      case 'content_block_delta':
        return this.delta(event['index'], objectOf(event['delta']))
      case 'message_delta':
        return this.end(event)
      case 'message_stop':
        return { isEnd: true }
      case 'error':
        return { isError: true }
      default:
        // Pings, ends of blocks, and events that do not exist yet.
        return {}
    }
  }

  private begin(index: Json | undefined, block: JsonObject): ReadEvent {
    const { type } = block
    this.thinking = ''
    if (type === 'text' && textOf(block['text']) !== '') {
      return chunkOf({ content: textOf(block['text']) })
    }
    if (type === 'redacted_thinking') {
      return chunkOf({ reasoning_details: [redactedDetail(block)] })
    }
    if (type !== 'tool_use') return {}
    const place = this.calls.size
    this.calls.set(index, place)
    return chunkOf({ tool_calls: [{ index: place, ...callOf(block, '') }] })
  }

  private delta(index: Json | undefined, delta: JsonObject): ReadEvent {
    switch (delta['type']) {
      case 'text_delta':
        return chunkOf({ content: textOf(delta['text']) })
      case 'thinking_delta':
        this.thinking += textOf(delta['thinking'])
        return chunkOf({ reasoning_content: textOf(delta['thinking']) })
      case 'signature_delta': {
        // With its text once more: a client that keeps the last details alone has both.
        const detail = signedDetail(this.thinking, textOf(delta['signature']))
        // Said once: a second signature is that of what follows the first.
        this.thinking = ''
        return chunkOf({ reasoning_details: [detail] })
      }
      case 'input_json_delta': {
        const place = this.calls.get(index)
        if (place === undefined) return {}
        const piece = { arguments: textOf(delta['partial_json']) }
        return chunkOf({ tool_calls: [{ index: place, function: piece }] })
      }
      default:
        return {}
    }
  }

  private end(event: JsonObject): ReadEvent {
    this.usage = objectOf(mergeUsage(this.usage, event['usage']))
    const { stop_reason: reason } = objectOf(event['delta'])
    const choices = [{ index: 0, delta: {}, finish_reason: finishReason(reason) }]
    const { service_tier = null } = this.usage
    return { chunk: { choices, usage: this.usage, service_tier } }
  }
}

const chunkOf = (delta: JsonObject): ReadEvent => ({
  chunk: { choices: [{ index: 0, delta, finish_reason: null }] },
})
