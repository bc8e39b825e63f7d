/** Reads a saved answer as the value that its receipt commits to. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { Collector, readAnswer } from './answer.ts'

/**
 * The output of an answer as a client saved it: a completion, embeddings, a run, or the bytes of a
 * stream of completion chunks. Undefined for anything else.
 */
export function outputIn(text: string): Json | undefined {
  const whole = parsed(text)
  if (!whole) return streamedIn(text)
  if (whole['object'] === 'run') return whole['output']
  if (Array.isArray(whole['choices'])) return readAnswer(whole).choices
  return whole['data']
}

function streamedIn(text: string): Json | undefined {
  const collector = new Collector()
  let isOne = false
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const chunk = line.startsWith('data:') ? parsed(line.slice('data:'.length)) : undefined
    if (!chunk) continue
    isOne ||= Array.isArray(chunk['choices'])
    collector.addChunk(chunk)
  }
  return isOne ? collector.answer().choices : undefined
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
