/** Addresses of the list of runs within a period. */
import type { Millis } from '../../kernel/clock.ts'
import { dateIn, dayStart, type ZoneName } from '../../kernel/zone.ts'

type More = Readonly<Record<string, string | undefined>>

/** The runs of a period: by dates where it is whole days of the reader. */
export function runsHref(
  { from, to, zone }: { from: Millis; to: Millis; zone: ZoneName },
  more: More = {},
): string {
  const isWhole = [from, to].every((at) => dayStart(zone, at) === at)
  if (!isWhole) return runsBetween(from, to, more)
  return runsPathOf(dateIn(zone, from), dateIn(zone, to - 1), more)
}

/** The same by moments, which every reader's zone reads alike: `to` is the first one outside. */
export const runsBetween = (from: Millis, to: Millis, more: More = {}): string =>
  runsPathOf(new Date(from).toISOString(), new Date(to).toISOString(), more)

function runsPathOf(from: string, to: string, more: More): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(more)) if (value) query.set(name, value)
  query.set('from', from)
  query.set('to', to)
  return `/dashboard/runs?${query}`
}
