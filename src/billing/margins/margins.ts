/** Margins: what runs brought in and what they cost the operator, by day, model or account. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { maxNusd, type Nusd } from '../../kernel/money.ts'
import type { RangeTexts } from '../../kernel/period.ts'
import { refuseField } from '../../kernel/refusal.ts'
import type { Period } from '../usage/log-range.ts'
import { readSumsPeriod } from '../usage/range.ts'
import { dayMs, dayOf } from '../usage/usage.ts'
import type { MarginGroup, MarginRow, MarginSums } from './margin.ts'

export type Margins = Period & {
  by: MarginGroup
  /** The lowest margin first; days in their order. */
  rows: MarginRow[]
  totals: MarginSums
  /** Leaves of the log that are not counted yet, because the count lags far behind. */
  uncounted: number
}

/** Most rows of one answer. */
const rowsMax = 10_000

/** Only runs that were answered by a route step with a cost: of others the margin is not known. */
export async function marginsOf(
  { margins }: Pick<Deps, 'margins'>,
  { from, to, by }: Period & { by: MarginGroup },
): Promise<Margins> {
  const { sums, fresh, uncounted } = await margins.picture({ from, to }, by)
  const found = new Map<string, MarginRow>()
  const totals = noMargin()
  for (const { name, ...more } of sums) add(found, totals, name, more)
  for (const { finishedAt, model, accountId, revenue, cost } of fresh) {
    const day = dayOf(finishedAt)
    if (day < from || day >= to) continue
    const name = { model, account: accountId, day: String(day) }[by]
    add(found, totals, name, { runs: 1, revenue, cost })
  }
  if (found.size > rowsMax) refuseRange(`This would be more than ${rowsMax} rows.`)
  if (totals.revenue > maxNusd || totals.cost > maxNusd) {
    refuseRange('This range comes to more than a JSON number can say exactly.')
  }
  const order = by === 'day' ? byName : byMargin
  return { from, to, by, rows: [...found.values()].sort(order), totals, uncounted }
}

export const marginOf = ({ revenue, cost }: MarginSums): Nusd => revenue - cost

/** In percent of the revenue with one decimal: `12.5`; null without revenue. */
export function marginPercent(sums: MarginSums): string | null {
  if (sums.revenue === 0n) return null
  const tenths = (marginOf(sums) * 1000n) / sums.revenue
  const digits = (tenths < 0n ? -tenths : tenths).toString().padStart(2, '0')
  return `${tenths < 0n ? '-' : ''}${digits.slice(0, -1)}.${digits.slice(-1)}`
}

/**
 * Whole days (UTC): the last 30 unless something else was asked for.
 * @throws Refusal 'invalid_request'
 */
export function readMarginDays(texts: RangeTexts, now: Millis): Period {
  const period = readSumsPeriod(texts, now)
  for (const edge of ['from', 'to'] as const) {
    if (period[edge] % dayMs === 0) continue
    refuseField(edge, 'Margins are summed by day: send a date.')
  }
  return period
}

const noMargin = (): MarginSums => ({ runs: 0, revenue: 0n, cost: 0n })

function add(
  found: Map<string, MarginRow>,
  totals: MarginSums,
  name: string,
  { runs, revenue, cost }: MarginSums,
): void {
  const row = found.get(name) ?? { name, ...noMargin() }
  found.set(name, row)
  for (const sums of [row, totals]) {
    sums.runs += runs
    sums.revenue += revenue
    sums.cost += cost
  }
}

const byName = (a: MarginRow, b: MarginRow): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0

function byMargin(a: MarginRow, b: MarginRow): number {
  const apart = marginOf(a) - marginOf(b)
  return apart < 0n ? -1 : apart > 0n ? 1 : byName(a, b)
}

function refuseRange(why: string): never {
  refuseField('from', `${why} Take a shorter range.`)
}
