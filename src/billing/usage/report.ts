/** Makes the usage report that a page shows. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { Period } from './log-range.ts'
import { readStack, type Stack } from './stack.ts'
import { type Usage, type UsageRequest, type UsageRow, usageOf } from './sum.ts'
import { dayMs, dayOf, type Sums } from './usage.ts'

type ReportRequest = Pick<UsageRequest, 'account' | 'keyIds' | 'from' | 'to' | 'groupBy'> & {
  /** Of the rows, the first one is 1. */
  page: number
}

/** The usage report of an account. */
export type Report = Period & {
  groupBy: UsageRequest['groupBy']
  /** Every day of the range, also those without a run. */
  days: { day: Millis; cost: Nusd }[]
  totals: Sums
  asOf: number
  uncounted: number
  /** Spending of each day by group; undefined where days are all that was asked for. */
  stack: Stack | undefined
  /** The groups, or why they cannot be told. */
  table: ReportTable | Refusal
}

export type ReportTable = {
  /** Those of one page: the newest day first, then what cost most. */
  rows: UsageRow[]
  /** Rows of all pages. */
  count: number
  page: number
  pages: number
  totals: Sums
  /** Of the keys in these rows. */
  keyNames: ReadonlyMap<string, string>
}

/** Rows of one page. */
export const pageRows = 100

/**
 * Spending by day over a range, and what was asked for in groups. Tags are read from the receipts:
 * where those are too many, the days are told all the same.
 * @throws Refusal 'invalid_request' when not even the days can be told.
 */
export async function readReport(
  deps: Pick<Deps, 'usage'>,
  { page, ...wish }: ReportRequest,
): Promise<Report> {
  const daily = await usageOf(deps, { ...wish, groupBy: ['day'] })
  const isDaily = wish.groupBy.join() === 'day'
  const usage = isDaily ? daily : await usageOf(deps, wish).catch(asRefusal)
  const { from, to, totals, asOf, uncounted } = daily
  const costs = new Map(daily.rows.map(({ day, cost }) => [day, cost]))
  const days = daysIn({ from, to }).map((day) => ({ day, cost: costs.get(day) ?? 0n }))
  const table = usage instanceof Refusal ? usage : await tableOf(deps, wish.account, usage, page)
  const stack = await readStack(deps, wish)
  return { from, to, groupBy: wish.groupBy, days, totals, asOf, uncounted, stack, table }
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

async function tableOf(
  { usage }: Pick<Deps, 'usage'>,
  account: string,
  { rows: all, totals }: Usage,
  wanted: number,
): Promise<ReportTable> {
  const pages = Math.max(1, Math.ceil(all.length / pageRows))
  const page = Math.min(wanted, pages)
  const rows = all.toSorted(inOrder).slice((page - 1) * pageRows, page * pageRows)
  const keyIds = new Set(rows.flatMap(({ keyId }) => keyId ?? []))
  const keyNames = await usage.keyNames(account, [...keyIds])
  return { rows, count: all.length, page, pages, totals, keyNames }
}

/** Equal rows stay in the order of their names. */
const inOrder = (a: UsageRow, b: UsageRow): number =>
  (b.day ?? 0) - (a.day ?? 0) || Number(b.cost - a.cost) || b.runs - a.runs

const daysIn = ({ from, to }: Period): Millis[] => {
  const first = dayOf(from)
  return Array.from({ length: Math.ceil((to - first) / dayMs) }, (_, i) => first + i * dayMs)
}
