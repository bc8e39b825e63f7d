/** Words for the values, the steps and the groups of a usage report. */
import type { Millis } from '../../../kernel/clock.ts'
import { dayText as dayOf } from '../../../kernel/moment.ts'
import { clockAt, dateIn, dayStart, timeIn, utcZone, type ZoneName } from '../../../kernel/zone.ts'
import { amountText, shortAmountText } from '../../../web/ui/amount.tsx'
import { dollarTick } from '../../../web/ui/chart-frame.tsx'
import { endOfStep, type Steps } from '../chart-steps.ts'
import type { Metric } from '../metric.ts'
import type { LayerGroup, StackBy } from '../stack.ts'
import type { Tag } from '../sum.ts'

export const countText = (value: number): string => value.toLocaleString('en-US')

/** A value of a metric for people in a hurry. */
export function valueText(metric: Metric, value: number): string {
  if (metric === 'spend') return shortAmountText(BigInt(Math.round(value)))
  return metric === 'first_token' ? waitText(value) : countText(value)
}

/** The same to the last digit. */
export const exactText = (metric: Metric, value: number): string =>
  metric === 'spend' ? amountText(BigInt(Math.round(value))) : valueText(metric, value)

/** A time to the first token: `638 ms`, `12.5 s`. */
export const waitText = (ms: number): string =>
  ms < 10_000 ? `${countText(Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`

/** Beside a line of the chart: `$2`, `1,500`, `2.5 M`, `500 ms`. */
export function tickText(metric: Metric, value: number): string {
  if (metric === 'spend') return dollarTick(value / 1e9)
  if (metric === 'first_token') return waitText(value)
  return metric === 'tokens' ? shortCount(value) : countText(value)
}

const units = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** Three significant digits: `61.2 M`. */
export function shortCount(value: number): string {
  const unit = units.find(([size]) => value >= size)
  return unit ? `${Number((value / unit[0]).toPrecision(3))} ${unit[1]}` : countText(value)
}

const weekdays = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')

/** `Nov 21`. */
export const dayText = (zone: ZoneName, at: Millis): string => dayOf(at, zone)

/** `Nov 21, 2025` where it is not the year of now. */
export function dayAndYear(zone: ZoneName, at: Millis, now: Millis): string {
  const year = new Date(clockAt(zone, at)).getUTCFullYear()
  const isNow = year === new Date(clockAt(zone, now)).getUTCFullYear()
  return isNow ? dayText(zone, at) : `${dayText(zone, at)}, ${year}`
}

/** `Thu 15:00`, `Nov 21` or `Nov 16 to 22`. */
export function stepText(steps: Steps, i: number): string {
  const { grain, zone, starts } = steps
  const at = starts[i] ?? steps.end
  if (grain === 'hour') {
    const weekday = weekdays[new Date(clockAt(zone, at)).getUTCDay()]
    return `${weekday} ${timeIn(zone, at)}`
  }
  const first = dayText(zone, at)
  if (grain === 'day') return first
  const last = dayText(zone, endOfStep(steps, i) - 1)
  const [month, day] = last.split(' ')
  if (first === last) return first
  return first.startsWith(`${month} `) ? `${first} to ${day}` : `${first} to ${last}`
}

const hoursMarked = 4

/** The name below a bar of an hour: its day, or the hour where there is one day. */
export function hourMark({ zone, starts }: Steps, i: number): string | undefined {
  const at = starts[i] ?? 0
  const isOneDay = starts.length <= 25
  const hour = Number(timeIn(zone, at).slice(0, 2))
  if (isOneDay) return hour % hoursMarked === 0 ? timeIn(zone, at) : undefined
  return at === dayStart(zone, at) ? dayText(zone, at) : undefined
}

export const tagText = ({ name, value }: Tag): string => `${name}:${value}`

/** The name of a layer of the chart. */
export function groupText(
  { by, keyNames }: { by: StackBy; keyNames: ReadonlyMap<string, string> },
  group: LayerGroup,
): string {
  if (group === 'other') return 'Others'
  if (typeof group === 'string') return group
  if (by === 'tag') return group.tag ? tagText(group.tag) : 'No tag'
  if (by === 'provider') return group.provider || 'None'
  const { keyId = '', model = '' } = group
  return by === 'key' ? (keyNames.get(keyId) ?? keyId) : model
}

/** `30 days`, `1 day`. */
export const daysText = (days: number): string => (days === 1 ? '1 day' : `${days} days`)

/** The dates that the fields of a form hold. */
export const edgeDates = (zone: ZoneName, { from, to }: { from: Millis; to: Millis }) => ({
  from: dateIn(zone, from),
  to: dateIn(zone, to - 1),
})

export const zoneText = (zone: ZoneName): string => (zone === utcZone ? 'UTC' : zone)
