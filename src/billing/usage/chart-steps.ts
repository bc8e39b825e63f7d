/** Cuts a period into the hours, days or weeks of a time zone. */
import type { Millis } from '../../kernel/clock.ts'
import { dayAway, dayStart, daysBetween, weekStart, type ZoneName } from '../../kernel/zone.ts'
import type { Period } from './log-range.ts'

export type Grain = 'hour' | 'day' | 'week'

/** The bars of a chart: each goes from its start to the next one, the last to `end`. */
export type Steps = { grain: Grain; zone: ZoneName; starts: readonly Millis[]; end: Millis }

/** Steps of one length, one behind the other. */
export type Stretch = { from: Millis; to: Millis; length: number }

const hourMs = 3_600_000
/** Days that are shown by the hour, and by the day; more are shown by the week. */
const hourlyMost = 7
const dailyMost = 92

/** Hours up to 7 days, days up to 92, then weeks. */
export function grainOf(zone: ZoneName, { from, to }: Period): Grain {
  const days = daysBetween(zone, from, to - 1) + 1
  if (days <= hourlyMost) return 'hour'
  return days <= dailyMost ? 'day' : 'week'
}

/** The first and the last step are cut where the period ends. */
export function stepsOf(zone: ZoneName, period: Period, grain = grainOf(zone, period)): Steps {
  const { from, to: end } = period
  const starts: Millis[] = []
  for (let at = from; at < end; at = after(zone, at, grain)) starts.push(at)
  return { grain, zone, starts, end }
}

function after(zone: ZoneName, at: Millis, grain: Grain): Millis {
  if (grain === 'hour') return at + hourMs
  return grain === 'day' ? dayAway(zone, at, 1) : dayAway(zone, weekStart(zone, at), 7)
}

/** As many days of the zone as a period has, right before it. */
export function formerOf(zone: ZoneName, { from, to }: Period): Period {
  const days = daysBetween(zone, from, to - 1) + 1
  return { from: Math.max(0, dayAway(zone, from, -days)), to: from }
}

/** The number of the step that a moment is in; -1 outside. */
export function stepAt({ starts, end }: Steps, at: Millis): number {
  if (at >= end) return -1
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

export const endOfStep = ({ starts, end }: Steps, i: number): Millis => starts[i + 1] ?? end

/** Stretches of steps of one length: a day of 23 or 25 hours is one of its own. */
export function stretchesOf(steps: Steps): Stretch[] {
  const found: Stretch[] = []
  for (const [i, from] of steps.starts.entries()) {
    const to = endOfStep(steps, i)
    const last = found.at(-1)
    if (last && last.length === to - from) last.to = to
    else found.push({ from, to, length: to - from })
  }
  return found
}

/** The whole days of a zone that a period touches. */
export const wholeDays = (zone: ZoneName, { from, to }: Period): Period => ({
  from: dayStart(zone, from),
  to: dayAway(zone, to - 1, 1),
})
