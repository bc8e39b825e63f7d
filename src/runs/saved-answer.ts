/** Reads a saved answer as the values that its receipt may commit to. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'
import { Collector, readAnswer } from './answer.ts'
import { readingsOfMessage, readingsOfMessageEvents } from './saved-message.ts'
import { readingsOfResponse, readingsOfResponseEvents } from './saved-response.ts'

/**
 * Reads what an answer says, as a client saved it from any door, whole or as the bytes of its
 * stream. An answer of one protocol may have been relayed as it came or translated, which commit to
 * values of different shapes, so there can be several. Each holds all that the answer says: none is
 * of another answer. Empty for anything else.
 */
export function readingsOf(text: string): Json[] {
  const whole = parsed(text)
  if (!whole) return streamedIn(text)
  if (whole['type'] === 'message') return readingsOfMessage(whole)
  if (whole['object'] === 'response') return readingsOfResponse(whole)
  const value = valueIn(whole)
  return value === undefined ? [] : [value]
}

/** The choices of a completion, the vectors of embeddings, or the output of a run. */
function valueIn(whole: JsonObject): Json | undefined {
  if (whole['object'] === 'run') return whole['output']
  if (Array.isArray(whole['choices'])) return readAnswer(whole).choices
  return whole['data']
}

function streamedIn(text: string): Json[] {
  const events: JsonObject[] = []
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const event = line.startsWith('data:') ? parsed(line.slice('data:'.length)) : undefined
    if (event) events.push(event)
  }
  const first = textOf(events[0]?.['type'])
  if (first === 'message_start') return readingsOfMessageEvents(events)
  if (first.startsWith('response.')) return readingsOfResponseEvents(events)
  const collector = new Collector()
  for (const event of events) collector.addChunk(event)
  return events.some(({ choices }) => objectsIn(choices).length > 0)
    ? [collector.answer().choices]
    : []
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
