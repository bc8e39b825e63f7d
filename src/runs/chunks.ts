/** Prepares the chunks of a chat stream for the client: roles, and chunks held back to the end. */
import type { JsonObject } from '../models/upstream/upstream.ts'
import { objects } from './answer.ts'

/** The final chunk of a stream whose upstream ended without a finish_reason. */
export const unfinished: JsonObject = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

/**
 * Splits each chunk into the part that finishes a choice, or follows its finish, and the part to
 * send now. Each choice keeps its order, and none waits for another to finish.
 */
export function finishSplitter() {
  const finished = new Set<unknown>()
  return (chunk: JsonObject): { ending?: JsonObject; going?: JsonObject } => {
    const choices = objects(chunk['choices'])
    for (const choice of choices) {
      if (typeof choice['finish_reason'] === 'string') finished.add(choice['index'])
    }
    if (finished.size === 0) return { going: chunk }
    const ending = choices.filter((choice) => finished.has(choice['index']))
    if (ending.length === 0) return { going: chunk }
    if (ending.length === choices.length) return { ending: chunk }
    const going = choices.filter((choice) => !finished.has(choice['index']))
    return { ending: { ...chunk, choices: ending }, going: { ...chunk, choices: going } }
  }
}

/** Adds the role to each choice's first delta: some upstreams omit it and OpenAI's SDK needs it. */
export function roleAdder(): (chunk: JsonObject) => JsonObject {
  const greeted = new Set<unknown>()
  return (chunk) => {
    const choices = objects(chunk['choices'])
    if (choices.every((choice) => greeted.has(choice['index']))) return chunk
    const named = choices.map((choice) => {
      if (greeted.has(choice['index'])) return choice
      greeted.add(choice['index'])
      return { ...choice, delta: { role: 'assistant', ...(choice['delta'] as JsonObject) } }
    })
    return { ...chunk, choices: named }
  }
}
