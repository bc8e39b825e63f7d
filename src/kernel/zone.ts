/** Days and hours of a time zone by its IANA name. */
import type { Millis } from './clock.ts'

/** The name of a time zone: `UTC`, `Europe/Berlin`. */
export type ZoneName = string

export const utcZone: ZoneName = 'UTC'

const dayMs = 86_400_000
/** Offsets of today's zones are whole quarters of an hour, so this grid has every midnight. */
export const quarterMs = 900_000

const formats = new Map<ZoneName, Intl.DateTimeFormat>()

/** The name of a zone as it is kept; undefined for others, as for `+05:30`. */
export function zoneNamed(text: string): ZoneName | undefined {
  if (!/^[A-Za-z]/.test(text) || text.length > 60) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

function formatOf(zone: ZoneName): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  })
  formats.set(zone, made)
  return made
}

/** The time on the clocks of a zone as if they showed UTC. */
export function clockAt(zone: ZoneName, at: Millis): Millis {
  if (zone === utcZone) return at
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

const offsetAt = (zone: ZoneName, at: Millis): number => {
  const second = Math.floor(at / 1000) * 1000
  return clockAt(zone, second) - second
}

/** The first moment whose clocks show at least this; a change of the clocks may leave it out. */
function momentOf(zone: ZoneName, shown: Millis): Millis {
  if (zone === utcZone) return shown
  // The offset before the change and the one after it: the earlier of the moments that fit.
  const [before, after] = [offsetAt(zone, shown - dayMs), offsetAt(zone, shown + dayMs)]
  const tries = [shown - before, shown - after].sort((a, b) => a - b)
  const fits = tries.find((at) => at + offsetAt(zone, at) === shown)
  // Left out: the day begins when the clocks go forward, which the new offset tells too early.
  return fits ?? changeBetween(zone, tries[0] ?? shown, tries[1] ?? shown)
}

function changeBetween(zone: ZoneName, from: Millis, to: Millis): Millis {
  const offset = offsetAt(zone, from)
  for (let at = from; at < to; at += quarterMs) if (offsetAt(zone, at) !== offset) return at
  return to
}

/** The beginning of the day of a moment. */
export function dayStart(zone: ZoneName, at: Millis): Millis {
  const shown = clockAt(zone, at)
  return momentOf(zone, shown - (((shown % dayMs) + dayMs) % dayMs))
}

/** The beginning of a day that is some days away from the day of a moment. */
export function dayAway(zone: ZoneName, at: Millis, days: number): Millis {
  const shown = clockAt(zone, at)
  return momentOf(zone, shown - (((shown % dayMs) + dayMs) % dayMs) + days * dayMs)
}

/** The Monday of the week of a moment. */
export function weekStart(zone: ZoneName, at: Millis): Millis {
  const weekday = new Date(clockAt(zone, at)).getUTCDay()
  return dayAway(zone, at, -((weekday + 6) % 7))
}

/** The beginning of a day by the midnight (UTC) of its date. */
export const dayOfDate = (zone: ZoneName, midnight: Millis): Millis => momentOf(zone, midnight)

/** The date of a moment: `2026-11-21`. */
export const dateIn = (zone: ZoneName, at: Millis): string =>
  new Date(clockAt(zone, at)).toISOString().slice(0, 10)

/** The hour and minute of a moment: `14:00`. */
export const timeIn = (zone: ZoneName, at: Millis): string =>
  new Date(clockAt(zone, at)).toISOString().slice(11, 16)

/** Whole days between the days of two moments. */
export const daysBetween = (zone: ZoneName, from: Millis, to: Millis): number =>
  Math.round((Date.parse(dateIn(zone, to)) - Date.parse(dateIn(zone, from))) / dayMs)
