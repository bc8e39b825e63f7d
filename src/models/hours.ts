/** Hours of the week in which a model has other prices, and the one that a moment is in. */
import type { Millis } from '../kernel/clock.ts'
import { clockAt, quarterMs, utcZone, type ZoneName, zoneNamed } from '../kernel/zone.ts'

/** The days of a week, in the order in which minutes of a week are counted. */
export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof days)[number]

/** Hours of each week as they are written: `16:30` to `00:30`, on the days when they begin. */
export type Hours = {
  from: string
  to: string
  days?: readonly Day[] | undefined
  zone?: string | undefined
}

const dayMinutes = 1440
const weekMinutes = 7 * dayMinutes

/** `07:05` as minutes of a day; `24:00` is its end. */
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** The minutes of a week in some hours, which go over midnight if they end before they begin. */
function* minutesIn({ from, to, days: named = days }: Hours): Generator<number> {
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const length = end > start ? end - start : end + dayMinutes - start
  for (const day of named) {
    const first = days.indexOf(day) * dayMinutes + start
    for (let at = first; at < first + length; at++) yield at % weekMinutes
  }
}

/** Everything that is wrong with the hours of a model. Of one zone, no two can be at one moment. */
export function faultsOfHours(hours: readonly Hours[]): string[] {
  const faults: string[] = []
  const zones = new Set(hours.map(({ zone = utcZone }) => zoneNamed(zone) ?? zone))
  for (const zone of zones) {
    if (zoneNamed(zone) === undefined) faults.push(`there is not a time zone "${zone}"`)
  }
  if (zones.size > 1) faults.push('all of a model have one zone')
  const taken = new Set<number>()
  for (const one of hours) {
    if (one.from === one.to)
      faults.push(`from ${one.from} to ${one.to} is empty; a day ends at 24:00`)
    if (one.days?.length === 0) faults.push(`from ${one.from} to ${one.to} names no day`)
    const own = new Set(minutesIn(one))
    if ([...own].some((at) => taken.has(at))) {
      faults.push(`those from ${one.from} to ${one.to} overlap with others`)
    }
    for (const at of own) taken.add(at)
  }
  return faults
}

/** The offset of a zone in a quarter of an hour, in which clocks do not change. */
const offsets = new Map<ZoneName, { quarter: number; offset: Millis }>()

function shownAt(zone: ZoneName, at: Millis): Millis {
  if (zone === utcZone) return at
  const quarter = Math.floor(at / quarterMs)
  const known = offsets.get(zone)
  if (known?.quarter === quarter) return at + known.offset
  const offset = clockAt(zone, quarter * quarterMs) - quarter * quarterMs
  offsets.set(zone, { quarter, offset })
  return at + offset
}

/** The minute of the week that the clocks of a zone show, from Monday 00:00. */
export function minuteOfWeek(zone: ZoneName, at: Millis): number {
  const minutes = Math.floor(shownAt(zone, at) / 60_000)
  // The epoch was a Thursday.
  return (((minutes + 3 * dayMinutes) % weekMinutes) + weekMinutes) % weekMinutes
}

/** Whether hours are on at a minute of the week. */
export function isWithin({ from, to, days: named = days }: Hours, minute: number): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const today = Math.floor(minute / dayMinutes)
  const now = minute % dayMinutes
  const isOn = (day: number) => named.includes(days[(day + 7) % 7] ?? 'mon')
  if (end > start) return isOn(today) && now >= start && now < end
  return (isOn(today) && now >= start) || (isOn(today - 1) && now < end)
}

/** "16:30 to 00:30 UTC", "09:00 to 17:00 Europe/Berlin on mon, tue". */
export function hoursText({ from, to, days: named, zone = utcZone }: Hours): string {
  const on = named && named.length < days.length ? ` on ${named.join(', ')}` : ''
  return `${from} to ${to} ${zone}${on}`
}
