/** Calendar months in UTC, and what a part of one is worth. */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'

/** Calendar months in UTC, and what a part of one is worth. */
export type Period = { start: Millis; end: Millis }

const dayMs = 86_400_000

/** Adds calendar months: the same day and time, or the last day of a month without that day. */
export function addMonths(from: Millis, months: number): Millis {
  const date = new Date(from)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const day = Math.min(date.getUTCDate(), lastDay)
  const time = ((from % dayMs) + dayMs) % dayMs
  return Date.UTC(year, month, day) + time
}

/**
 * The month that `at` falls into, of those that follow each other from `startedAt` on. Each is
 * counted from there: what begins on the 31st ends on February 28th and then on March 31st.
 */
export function monthAt(startedAt: Millis, at: Millis): Period {
  const [from, to] = [new Date(startedAt), new Date(at)]
  const years = to.getUTCFullYear() - from.getUTCFullYear()
  const passed = years * 12 + to.getUTCMonth() - from.getUTCMonth()
  const months = addMonths(startedAt, passed) > at ? passed - 1 : passed
  return { start: addMonths(startedAt, months), end: addMonths(startedAt, months + 1) }
}

/** The share of `price` that pays for the rest of the period after `at`, rounded down. */
export function restOf(price: Nusd, { start, end }: Period, at: Millis): Nusd {
  const left = Math.max(0, end - Math.max(at, start))
  return (price * BigInt(left)) / BigInt(end - start)
}
