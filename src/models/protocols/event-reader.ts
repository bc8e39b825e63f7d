/** Reads the events of a stream in one protocol. */
import type { JsonObject } from '../../kernel/json-object.ts'
import type { NativeEvent } from '../native-event.ts'
import type { TextFrames } from '../text-frames.ts'

/** A chunk in the shape of Chat Completions, or an event that is handed on. */
export type ReadChunk = JsonObject | TextFrames | NativeEvent

/**
 * `end`: it ends the answer. `malformed`: its protocol does not have it. An object tells of a
 * failure; the chunks that were added before it still count.
 */
export type Outcome = 'end' | 'malformed' | JsonObject | undefined

/** Reads the events of one stream, in order. */
export type EventReader = {
  /** Adds what an event comes to; `text` is the event as it was written. */
  read(event: JsonObject, text: string, out: ReadChunk[]): Outcome
  /**
   * Nothing more comes; `isDone` where the server said so by `[DONE]`. Adds what was held back, and
   * returns whether the answer is whole.
   */
  close(isDone: boolean, out: ReadChunk[]): boolean
}
