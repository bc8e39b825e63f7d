/** Opens what a translated answer seals of its reasoning, as its receipt commits to it. */
import type { Json } from '../kernel/canonical.ts'
import type { JsonObject } from '../kernel/json-object.ts'
import { isEnvelope, unseal } from '../models/protocols/envelope.ts'
import { textOf } from '../models/protocols/reading.ts'
import { wordsOfDetail } from '../models/protocols/reasoning-details.ts'
import { RestoredTurn } from '../models/protocols/restored-turn.ts'

/** A piece of reasoning of an answer: the text that is shown, and the seal beside it. */
export type Thought = { text: string; sealed: Json | undefined }

/**
 * The message with its reasoning as the model server sent it.
 *
 * @param model the model that the answer names, for which its envelopes are
 * @returns undefined where an envelope is none of ours, or does not hold the text beside it: else
 *   a text could change that no receipt commits to.
 */
export function withReasoning(
  message: JsonObject,
  model: string,
  thoughts: readonly Thought[],
): JsonObject | undefined {
  const { reasoning_content: text, reasoning_details: _, ...rest } = message
  // A cut ends an answer before its seal.
  if (thoughts.every(({ sealed }) => textOf(sealed) === '')) {
    return text === undefined ? rest : { ...rest, reasoning_content: text }
  }
  const turn = new RestoredTurn(model)
  for (const thought of thoughts) {
    if (!holdsItsText(thought, model) || !turn.add(thought.text, thought.sealed)) return undefined
  }
  const restored = { ...rest }
  turn.restore(restored)
  return restored
}

function holdsItsText({ text, sealed }: Thought, model: string): boolean {
  const contents = isEnvelope(sealed) ? unseal(sealed, model) : undefined
  if (!contents) return false
  if (contents.plain) return true
  const words = (contents.details ?? []).map((detail) => {
    const isBeside = textOf(detail['signature']) !== '' && detail['text'] === undefined
    return isBeside ? text : wordsOfDetail(detail)
  })
  return words.join('') === text
}
