/** The clock, injected everywhere so that tests control time. */

/** Milliseconds since the Unix epoch. */
export type Millis = number

/** The source of the time. Production reads the system; tests set it by hand. */
export type Clock = {
  now(): Millis
  /** Milliseconds from an arbitrary start that no wall-clock jump moves: for durations only. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** RFC 3339 UTC with milliseconds, as every native JSON body shows a time. */
export const toRfc3339 = (at: Millis): string => new Date(at).toISOString()

/** {@link toRfc3339} of a time that may be null. */
export const timeOrNull = (at: Millis | null): string | null => (at === null ? null : toRfc3339(at))

/** Unix seconds, as OpenAI-shaped bodies show a time. */
export const toUnixSeconds = (at: Millis): number => Math.floor(at / 1000)
