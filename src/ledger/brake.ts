/**
 * The brake of a key: the most that it and the keys below it may spend in one minute and in one
 * hour, by the clock in UTC. Each is a purse of its own beside the cap, so that a hold which would
 * pass it is refused in the command that takes it, however many arrive at once. Held money delays
 * such a run; spent money pauses the key.
 */
import type { Millis } from '../kernel/clock.ts'
import type { Nusd } from '../kernel/money.ts'
import type { HoldWindow, KeyRow, WindowRow } from '../storage/db/schema/schema.ts'

export type BrakeSpan = 'minute' | 'hour'

/** The limit of one span. `start` is its beginning plus the mark of {@link marks}. */
export type Brake = { span: BrakeSpan; start: Millis; limit: Nusd }

const minuteMs = 60_000
const hourMs = 3_600_000

/** Milliseconds after the minute that distinguish the two brake windows from cap windows. */
const marks: Record<BrakeSpan, Millis> = { minute: 1, hour: 2 }

/** Whether a key has a brake. Most have none, and their holds skip the check. */
export const hasBrake = ({ brakeMinute, brakeHour }: KeyRow): boolean =>
  brakeMinute !== null || brakeHour !== null

/** The brakes of a key at this moment; `start` names their windows in `key_windows`. */
export function brakesOf({ brakeMinute, brakeHour }: KeyRow, now: Millis): Brake[] {
  const brakes: Brake[] = []
  if (brakeMinute !== null) {
    brakes.push({ span: 'minute', start: startOf('minute', now), limit: brakeMinute })
  }
  if (brakeHour !== null) {
    brakes.push({ span: 'hour', start: startOf('hour', now), limit: brakeHour })
  }
  return brakes
}

const startOf = (span: BrakeSpan, now: Millis): Millis => {
  const length = span === 'minute' ? minuteMs : hourMs
  return now - (now % length) + marks[span]
}

/** When a minute or an hour of a brake is over. */
export const endOf = ({ span, start }: Brake): Millis =>
  start - marks[span] + (span === 'minute' ? minuteMs : hourMs)

/**
 * Whether half of a brake or more is spent. Below that, a hold which does not fit shows that runs
 * hold much, not that the key runs away: it waits, and pauses nothing.
 */
export const isMostlySpent = ({ limit }: Brake, { spent }: Pick<WindowRow, 'spent'>): boolean =>
  spent * 2n >= limit

/** The key and its ancestors, each once: a hold names several windows of a key with a brake. */
export function keysIn(windows: readonly HoldWindow[]): string[] {
  const keys: string[] = []
  for (const [keyId, start] of windows) if (!isBrakeWindow(start)) keys.push(keyId)
  return keys
}

/** Whether a window belongs to a brake. Past ones are deleted; windows of caps are kept. */
export const isBrakeWindow = (start: Millis): boolean => {
  const mark = start % minuteMs
  return mark === marks.minute || mark === marks.hour
}
