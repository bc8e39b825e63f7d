/** Reads answers of OpenAI's Responses API, whole or as events, as those of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { objectOf } from '../../../kernel/json-object.ts'
import type { ReadEvent } from '../messages/answer-to-chat.ts'
import { objectsIn, textOf } from '../reading.ts'
import { formats } from '../reasoning-details.ts'

/** A whole answer; undefined for other JSON and a failure. Its `usage` stays as it is written. */
export function responseToChat(answer: JsonObject): JsonObject | undefined {
  const { object, status, output } = answer
  const isWhole = status === 'completed' || status === 'incomplete'
  if (object !== 'response' || !isWhole || !Array.isArray(output)) return undefined
  const calls: JsonObject[] = []
  let content: string | null = null
  let refusal = ''
  let reasoning = ''
  const details: JsonObject[] = []
  for (const item of objectsIn(output)) {
    const { type } = item
    if (type === 'reasoning') {
      reasoning += summaryOf(item)
      details.push(...sealedDetails(item))
    }
    if (type === 'function_call' || type === 'custom_tool_call') calls.push(callOf(item))
    else if (type === 'message') {
      for (const part of objectsIn(item['content'])) {
        if (part['type'] === 'output_text') content = (content ?? '') + textOf(part['text'])
        refusal += textOf(part['refusal'])
      }
    }
  }
  const message: JsonObject = { role: 'assistant', content }
  if (refusal !== '') message['refusal'] = refusal
  if (calls.length > 0) message['tool_calls'] = calls
  if (reasoning !== '') message['reasoning_content'] = reasoning
  if (details.length > 0) message['reasoning_details'] = details
  const finish_reason = finishReason(answer, calls.length > 0)
  const choices = [{ index: 0, message, finish_reason }]
  return { choices, usage: answer['usage'] ?? null, service_tier: answer['service_tier'] ?? null }
}

const summaryOf = (item: JsonObject): string =>
  objectsIn(item['summary'])
    .map(({ text }) => textOf(text))
    .join('\n\n')

/** The sealed content of reasoning, which the server wants back beside its calls. */
function sealedDetails({ id, encrypted_content: data }: JsonObject): JsonObject[] {
  if (typeof data !== 'string' || data === '') return []
  return [{ type: 'reasoning.encrypted', id: textOf(id), data, format: formats.responses }]
}

function finishReason(answer: JsonObject, hasCalls: boolean): string {
  const { reason } = objectOf(answer['incomplete_details'])
  if (reason === 'content_filter') return 'content_filter'
  if (answer['status'] === 'incomplete') return 'length'
  return hasCalls ? 'tool_calls' : 'stop'
}

function callOf(item: JsonObject): JsonObject {
  const id = textOf(item['call_id'])
  const name = textOf(item['name'])
  return item['type'] === 'custom_tool_call'
    ? { id, type: 'custom', custom: { name, input: textOf(item['input']) } }
    : { id, type: 'function', function: { name, arguments: textOf(item['arguments']) } }
}

/** Reads the events of one stream, in order. */
export class ResponseReader {
  /** The place among the calls of each item that is one, and whether its tool is a custom one. */
  private readonly calls = new Map<Json | undefined, { place: number; isCustom: boolean }>()

  read(event: JsonObject): ReadEvent {
    const { type, delta } = event
    switch (type) {
      case 'response.created':
        return chunkOf({ role: 'assistant', content: '' })
      case 'response.output_item.added':
        return this.begin(event['output_index'], objectOf(event['item']))
      case 'response.output_text.delta':
        return chunkOf({ content: textOf(delta) })
      case 'response.refusal.delta':
        return chunkOf({ refusal: textOf(delta) })
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return chunkOf({ reasoning_content: textOf(delta) })
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.piece(event['output_index'], textOf(delta))
      case 'response.output_item.done':
        return this.done(objectOf(event['item']))
      case 'response.completed':
      case 'response.incomplete':
        return this.end(objectOf(event['response']))
      case 'response.failed':
      case 'error':
        return { isError: true }
      default:
        // Events that repeat the deltas, and events that do not exist yet.
        return {}
    }
  }

  private begin(index: Json | undefined, item: JsonObject): ReadEvent {
    const isCustom = item['type'] === 'custom_tool_call'
    if (!isCustom && item['type'] !== 'function_call') return {}
    const place = this.calls.size
    this.calls.set(index, { place, isCustom })
    return chunkOf({ tool_calls: [{ index: place, ...callOf(item) }] })
  }

  private done(item: JsonObject): ReadEvent {
    const details = item['type'] === 'reasoning' ? sealedDetails(item) : []
    return details.length > 0 ? chunkOf({ reasoning_details: details }) : {}
  }

  private piece(index: Json | undefined, text: string): ReadEvent {
    const call = this.calls.get(index)
    if (!call) return {}
    const said: JsonObject = call.isCustom
      ? { custom: { input: text } }
      : { function: { arguments: text } }
    return chunkOf({ tool_calls: [{ index: call.place, ...said }] })
  }

  private end(response: JsonObject): ReadEvent {
    const finish_reason = finishReason(response, this.calls.size > 0)
    const choices = [{ index: 0, delta: {}, finish_reason }]
    const { usage = null, service_tier = null } = response
    return { chunk: { choices, usage, service_tier }, isEnd: true }
  }
}

const chunkOf = (delta: JsonObject): ReadEvent => ({
  chunk: { choices: [{ index: 0, delta, finish_reason: null }] },
})
