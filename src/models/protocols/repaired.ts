/** Types of the repair of streams in protocols of named events. */
import type { JsonObject } from '../../kernel/json-object.ts'

/** An event as it has to be; `shown` where clients need members that say nothing true. */
export type RepairedEvent = { event: JsonObject; shown?: JsonObject }

/** Repairs the events of one stream, in order. */
export type EventRepair = {
  /** The very same event where nothing is odd; else those that take its place. */
  repair(event: JsonObject): JsonObject | RepairedEvent[]
  /** The events that a stream still lacks when nothing more comes; undefined where it is cut. */
  close(isDone: boolean): RepairedEvent[] | undefined
  /** Whether the event of now says that its server could not go on. */
  readonly hasFailed: boolean
}

/** Makes an id that begins with a word of the protocol. */
export type NewItemId = (prefix: string) => string
