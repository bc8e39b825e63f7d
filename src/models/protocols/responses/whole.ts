/** Reads whole answers of OpenAI's Responses API as the protocol has them. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import type { NewItemId } from '../repaired.ts'
import { isItem, repairItem } from './items.ts'

export const isEndType = (type: string): boolean =>
  type === 'response.completed' || type === 'response.incomplete' || type === 'response.done'

/** Whether JSON is an answer, not an event about one. */
export const isResponse = ({ object, output, type }: JsonObject): boolean =>
  type === undefined && (object === 'response' || Array.isArray(output))

const failures: ReadonlySet<unknown> = new Set(['failed', 'cancelled'])

/**
 * A whole answer as the protocol has it: the very same object where nothing is odd; undefined for
 * other JSON, `failure` for one that tells of a failure.
 */
export function repairResponse(
  answer: JsonObject,
  newId: NewItemId,
): JsonObject | { failure: JsonObject } | undefined {
  const { status, output, output_text: text } = answer
  if (!isResponse(answer)) return undefined
  if (failures.has(status)) return { failure: answer }
  if (status === 'in_progress' || status === 'queued') return undefined
  const isStatus = status === 'completed' || status === 'incomplete'
  const isInOrder = Array.isArray(output) && output.every(isItem) && isStatus
  if (isInOrder && (output.length > 0 || typeof text !== 'string')) return answer
  if (!Array.isArray(output) && typeof text !== 'string') return undefined
  const items: Json[] = Array.isArray(output) && output.length > 0 ? output : textItem(text)
  const isShort = isObject(answer['incomplete_details'])
  return {
    ...answer,
    id: answer['id'] ?? newId('resp'),
    object: 'response',
    status: isStatus ? status : isShort ? 'incomplete' : 'completed',
    output: items.map((item) => (isItem(item) ? item : repairItem(item, newId, 'completed'))),
  }
}

const textItem = (text: Json | undefined): Json[] =>
  typeof text === 'string' && text !== '' ? [{ type: 'message', content: text }] : []

/** The answer that events which are in order come to: the last of them has all of it. */
export const joinResponse = (events: readonly JsonObject[]): JsonObject =>
  objectOf(events.at(-1)?.['response'])
