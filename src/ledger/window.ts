/** When the windows of a spending cap begin and end, in UTC. */
import type { Millis } from '../kernel/clock.ts'

/** How often a cap resets: never, daily at 00:00 UTC, on Mondays, on the 1st of the month. */
export type CapWindow = 'lifetime' | 'day' | 'week' | 'month'

export const capWindows: readonly CapWindow[] = ['lifetime', 'day', 'week', 'month']

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** 1970-01-05 was a Monday. */
const firstMondayMs = 4 * dayMs

/** When the window that contains `now` began; 0 for `lifetime`. */
export function windowStart(window: CapWindow, now: Millis): Millis {
  if (window === 'lifetime') return 0
  if (window === 'day') return now - (now % dayMs)
  if (window === 'week') return now - ((now - firstMondayMs) % weekMs)
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

/** When the cap resets next; null for `lifetime`. */
export function windowEnd(window: CapWindow, now: Millis): Millis | null {
  const start = windowStart(window, now)
  if (window === 'lifetime') return null
  if (window === 'day') return start + dayMs
  if (window === 'week') return start + weekMs
  const date = new Date(start)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
