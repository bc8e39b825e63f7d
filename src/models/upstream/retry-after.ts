/** Reads when a server may be asked again. */

import { systemClock } from '../../kernel/clock.ts'

/** The longest wait that is passed on, in ms: clients ignore longer ones. */
export const longestWaitMs = 60_000

/** The longest that a key of ours rests because its server said so, in ms. */
export const longestRestMs = 24 * 3_600_000

/**
 * The wait that an answer asks for, in ms, at most `mostMs`; undefined where it names none.
 * `retry-after` is in seconds or a date (RFC 9110 §10.2.3); `retry-after-ms` is OpenAI's.
 */
export function retryAfterIn(
  field: (name: 'retry-after' | 'retry-after-ms') => string | null | undefined,
  now: number = systemClock.now(),
  mostMs: number = longestWaitMs,
): number | undefined {
  const exact = field('retry-after-ms')?.trim()
  if (exact && /^\d{1,9}(\.\d+)?$/.test(exact)) return Math.min(Math.ceil(Number(exact)), mostMs)
  const text = field('retry-after')?.trim()
  if (!text) return undefined
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), mostMs)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), mostMs)
}
