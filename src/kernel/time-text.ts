/** Reads RFC 3339 times and dates strictly. */
import type { Millis } from './clock.ts'

const form =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/**
 * An RFC 3339 time from 1970 on, with its offset; undefined for any other text. `Date.parse` takes
 * more, and means something else by it: hour 24, February 30, a time without an offset. There is no
 * second 60. Fractions below a millisecond are cut off.
 */
export function parseTime(text: string): Millis | undefined {
  const match = form.exec(text)
  if (!match) return undefined
  const midnight = dayOf(match[1], match[2], match[3])
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])]
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)]
  const exists = hour < 24 && minute < 60 && second < 60 && offsetHours < 24 && offsetMinutes < 60
  if (midnight === undefined || !exists) return undefined
  const millis = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const local = midnight + ((hour * 60 + minute) * 60 + second) * 1000 + millis
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000
  return Math.max(0, local - (match[8] === '-' ? -offset : offset))
}

/** The midnight (UTC) that a date begins with, such as 2026-11-21; undefined for any other text. */
export function parseDate(text: string): Millis | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  return match ? dayOf(match[1], match[2], match[3]) : undefined
}

/** Undefined for a day that its month does not have. */
function dayOf(year?: string, month?: string, day?: string): Millis | undefined {
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const isReal = at >= 0 && new Date(at).toISOString().startsWith(`${year}-${month}-${day}`)
  return isReal ? at : undefined
}
