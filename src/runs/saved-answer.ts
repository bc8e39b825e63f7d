/** Reads a saved answer as the values that its receipt may commit to. */
import type { Json } from '../kernel/canonical.ts'
import type { JsonObject } from '../kernel/json-object.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'
import { Collector, readAnswer } from './answer.ts'
import { contradiction, formOf, readStreamed, readWhole } from './saved-forms.ts'
import { readingsOfMessage, readingsOfMessageEvents } from './saved-message.ts'
import { readingsOfResponse, readingsOfResponseEvents } from './saved-response.ts'

/**
 * Reads what an answer says, as a client saved it from any door, whole or as the bytes of its
 * stream. An answer of one protocol may have been relayed as it came or translated, which commit to
 * values of different shapes, so there can be several. Each holds all that the answer says: none is
 * of another answer. A text in which other readers can find other words has none that a receipt
 * commits to. Empty for anything else.
 */
export function readingsOf(text: string): Json[] {
  const whole = readWhole(text)
  const { objects, isPlain } = whole ?? readStreamed(text)
  const readings = whole ? objects.flatMap(wholeIn) : streamedIn(objects)
  return readings.length === 0 || isPlain ? readings : contradiction
}

function wholeIn(whole: JsonObject): Json[] {
  const form = formOf(whole)
  if (form === 'message') return readingsOfMessage(whole)
  if (form === 'response') return readingsOfResponse(whole)
  if (form === 'choices') return [readAnswer(whole).choices]
  const value = whole[form === 'run' ? 'output' : 'data']
  return value === undefined ? [] : [value]
}

function streamedIn(events: readonly JsonObject[]): Json[] {
  const first = textOf(events[0]?.['type'])
  if (first === 'message_start') return readingsOfMessageEvents(events)
  if (first.startsWith('response.')) return readingsOfResponseEvents(events)
  const collector = new Collector()
  for (const event of events) collector.addChunk(event)
  return events.some(({ choices }) => objectsIn(choices).length > 0)
    ? [collector.answer().choices]
    : []
}
