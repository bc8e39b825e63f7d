/** The chunks of a stream that differ only in their text, all as one. */
import type { JsonObject } from '../kernel/json-object.ts'

/**
 * Consecutive chunks that differ only in the text of their one choice. One of the kind was a chunk
 * of its own before, and no choice has finished yet.
 */
export class TextFrames {
  constructor(
    /** The kind that they have in common; one object for all of a kind. */
    readonly kind: TextKind,
    /** The text of each. None needs escaping in JSON, and none holds half a surrogate pair. */
    readonly texts: readonly string[],
  ) {}

  chunks(): JsonObject[] {
    return this.texts.map((text) => chunkWith(this.kind, text))
  }
}

/** The common part of frames that differ only in their text. */
export type TextKind = {
  /** One of them, parsed; do not mutate. */
  chunk: JsonObject
  choice: JsonObject
  delta: JsonObject
  /** The bytes before the text and after it, from `data:` to the blank line. */
  before: string
  after: string
}

/** A chunk of the kind, with a text of its own. */
export const chunkWith = ({ chunk, choice, delta }: TextKind, content: string): JsonObject => ({
  ...chunk,
  choices: [{ ...choice, delta: { ...delta, content } }],
})

/** Stands in the place of a text, to find where that goes. No JSON text needs to escape it. */
export const slot = '<the text of this frame>'
