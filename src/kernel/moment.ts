/** Words for moments and durations, the same on the server and in the browser. */

import { clockAt, utcZone, type ZoneName } from './zone.ts'

const dayMs = 86_400_000

/** Whole units, rounded down; beyond 30 days either way it is the date. */
export function relativeTime(at: number, now: number, zone = utcZone): string {
  const distance = Math.abs(now - at)
  if (distance < 5000) return 'just now'
  if (distance >= 30 * dayMs) return dateText(at, zone)
  const words = durationText(distance)
  return at < now ? `${words} ago` : `in ${words}`
}

/** A moment of which only the minute is known. */
export function relativeMinute(minute: number, now: number, zone = utcZone): string {
  const thisMinute = now - (now % 60_000)
  return minute >= thisMinute ? 'this minute' : relativeTime(minute, thisMinute, zone)
}

/** A duration in its largest unit: "42 s", "5 min", "3 h", "2 days". */
export function durationText(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`
  if (ms < dayMs) return `${Math.floor(ms / 3_600_000)} h`
  const days = Math.floor(ms / dayMs)
  return days === 1 ? '1 day' : `${days} days`
}

/** The day of a moment: `Nov 29, 2026`. */
export const dateText = (at: number, zone = utcZone): string => formatDate(clockAt(zone, at))

/** The day of a moment without its year: `Nov 29`. */
export const dayText = (at: number, zone = utcZone): string => formatDay(clockAt(zone, at))

/** A moment to the second, with the zone: `Nov 29, 2026, 14:25:42 GMT+1`. */
export const exactTime = (at: number, zone = utcZone): string =>
  `${formatExactly(clockAt(zone, at))} ${zone === utcZone ? zone : offsetName(zone, at)}`

/** A moment in a zone, and on a second line in UTC. */
export const bothTimes = (at: number, zone: ZoneName): string =>
  zone === utcZone ? exactTime(at) : `${exactTime(at, zone)}\n${exactTime(at)}`

/** `GMT+1`, or the usual letters: `EST`. */
function offsetName(timeZone: ZoneName, at: number): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'short' }).formatToParts(
    at,
  )
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
}

const utc = { timeZone: 'UTC', month: 'short', day: 'numeric', year: 'numeric' } as const

/** Says moments in English. Its format is made when a page needs it: it takes milliseconds. */
export const dateWords = (options: Intl.DateTimeFormatOptions) => {
  let made: Intl.DateTimeFormat | undefined
  return (at: number): string => {
    made ??= new Intl.DateTimeFormat('en-US', options)
    return made.format(at)
  }
}

const formatDate = dateWords(utc)
const formatDay = dateWords({ timeZone: 'UTC', month: 'short', day: 'numeric' })
const formatExactly = dateWords({
  ...utc,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
