/** Reads whole messages as Anthropic's protocol has them, as events and from events. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { finishOf } from '../chat/finish-word.ts'
import { objectsIn, textOf } from '../reading.ts'
import type { NewItemId } from '../repaired.ts'
import { isBlock, repairBlock } from './blocks.ts'
import { MessageCollector } from './collect.ts'

/** A message that tells that its server could not go on. */
const failed = { failure: { error: { message: 'The answer ends with an error.' } } }

/**
 * A whole answer as the protocol has it: the very same object where nothing is odd; undefined for
 * other JSON.
 */
export function repairMessage(
  answer: JsonObject,
  newId: NewItemId,
): JsonObject | { failure: JsonObject } | undefined {
  const { type, role, content, stop_reason: reason } = answer
  const isList = Array.isArray(content)
  if (type !== 'message' && (type !== undefined || role !== 'assistant')) return undefined
  if (!isList && typeof content !== 'string') return undefined
  if (finishOf(reason).word === 'error') return failed
  const isEnded = typeof reason === 'string' && finishOf(reason).word !== null
  const isInOrder = type === 'message' && isList && content.every(isBlock) && isEnded
  if (isInOrder && (reason !== 'end_turn' || !content.some(isCall))) return answer
  const blocks = (isList ? content : [content]).map((block) =>
    isBlock(block) ? block : repairBlock(block, newId),
  )
  const usual = blocks.some(isCall) ? 'tool_use' : 'end_turn'
  return {
    ...answer,
    id: answer['id'] ?? newId('msg'),
    type: 'message',
    role: 'assistant',
    content: blocks,
    stop_reason: isEnded && reason !== 'end_turn' ? reason : usual,
    stop_sequence: answer['stop_sequence'] ?? null,
  }
}

const isCall = (block: Json): boolean => isObject(block) && block['type'] === 'tool_use'

/** The events of a message that came whole in the place of a stream. */
export function eventsOfMessage(answer: JsonObject, newId: NewItemId): JsonObject[] {
  const { content, stop_reason, stop_sequence = null, ...message } = answer
  const blocks = Array.isArray(content) ? content : [content ?? '']
  const reason = finishOf(stop_reason).word === null ? usualReason(blocks) : (stop_reason ?? null)
  const { usage } = message
  const delta = { stop_reason: reason, stop_sequence }
  return [
    { type: 'message_start', message: { ...message, content: [] } },
    ...blocks.flatMap((block, index) => eventsOfBlock(repairBlock(block, newId), index)),
    { type: 'message_delta', delta, ...(isObject(usage) ? { usage } : {}) },
    { type: 'message_stop' },
  ]
}

const usualReason = (blocks: Json[]): string => (blocks.some(isCall) ? 'tool_use' : 'end_turn')

function eventsOfBlock(block: JsonObject, index: number): JsonObject[] {
  const { type, text, thinking, signature, citations, ...others } = block
  const events: JsonObject[] = []
  const add = (delta: JsonObject): void => {
    events.push({ type: 'content_block_delta', index, delta })
  }
  let content_block = block
  if (type === 'text') {
    content_block = { type, text: '', ...others }
    add({ type: 'text_delta', text: textOf(text) })
    for (const citation of objectsIn(citations)) add({ type: 'citations_delta', citation })
  } else if (type === 'thinking') {
    content_block = { type, thinking: '', signature: '', ...others }
    add({ type: 'thinking_delta', thinking: textOf(thinking) })
    if (textOf(signature) !== '') add({ type: 'signature_delta', signature: textOf(signature) })
  }
  return [
    { type: 'content_block_start', index, content_block },
    ...events,
    { type: 'content_block_stop', index },
  ]
}

/** The message that events which are in order come to. */
export function joinMessage(events: readonly JsonObject[]): JsonObject {
  const collector = new MessageCollector()
  let message: JsonObject = {}
  for (const event of events) {
    collector.add(event)
    if (event['type'] === 'message_start') message = objectOf(event['message'])
  }
  const { choices, usage } = collector.answer()
  const [said] = Array.isArray(choices) ? choices : []
  const { content, stop_reason, stop_sequence } = objectOf(said)
  return {
    ...message,
    content: objectsIn(content).map((block) =>
      block['type'] === 'text' ? { citations: null, ...block } : block,
    ),
    stop_reason: stop_reason ?? null,
    stop_sequence: stop_sequence ?? null,
    usage: usage ?? null,
  }
}
