/** Makes the usage report that a page shows. */
import type { Deps } from '../../app/deps-port.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { ZoneName } from '../../kernel/zone.ts'
import { formerOf, type Steps, stepsOf } from './chart-steps.ts'
import type { Waits } from './first-tokens.ts'
import type { Period } from './log-range.ts'
import { type Metric, type SummedMetric, sizeOf } from './metric.ts'
import { classStack, readStack, type Stack, valuesOf } from './stack.ts'
import { type Grouping, type Usage, type UsageRequest, type UsageRow, usageOf } from './sum.ts'
import type { Sums } from './usage.ts'

export type ReportRequest = Pick<UsageRequest, 'account' | 'keyIds' | 'from' | 'to'> & {
  zone: ZoneName
  metric: Metric
  /** Absent for what suits the metric. */
  groupBy: readonly Grouping[] | undefined
  /** Of the rows, the first one is 1. */
  page: number
}

/** The usage report of an account. */
export type Report = Period & {
  zone: ZoneName
  metric: Metric
  /** The groups of the table. */
  groupBy: readonly Grouping[]
  steps: Steps
  /** The rows of the steps; one without a run has none. */
  rows: readonly UsageRow[]
  totals: Sums
  waits: Waits
  /** The same time before: a value for each step, and all of it. */
  former: { steps: Steps; rows: readonly UsageRow[]; totals: Sums; waits: Waits }
  asOf: number
  uncounted: number
  /** Undefined where nothing is stacked. */
  stack: Stack | undefined
  /** The groups, or why they cannot be told. */
  table: ReportTable | Refusal
}

export type ReportTable = {
  /** Those of one page: the newest day first, then the largest. */
  rows: UsageRow[]
  /** Rows of all pages. */
  count: number
  page: number
  pages: number
  totals: Sums
  waits: Waits
  /** Of the keys in these rows. */
  keyNames: ReadonlyMap<string, string>
}

/** Rows of one page. */
export const pageRows = 100

/** Groups of a report that does not name any. */
const usualGroups: readonly Grouping[] = ['model']

/**
 * A metric over a range in steps of a zone, and what was asked for in groups. Tags are read from
 * the receipts: where those are too many, the steps are told all the same.
 * @throws Refusal 'invalid_request' when not even the steps can be told.
 */
export async function readReport(
  deps: Pick<Deps, 'usage'>,
  { page, zone, metric, groupBy, ...wish }: ReportRequest,
): Promise<Report> {
  const steps = stepsOf(zone, wish)
  const before = formerOf(zone, wish)
  const isTimed = metric === 'first_token'
  const read = (period: Period, ofPeriod: Steps) =>
    usageOf(deps, { ...wish, ...period, steps: ofPeriod, groupBy: ['day'], waits: isTimed })
  const { from, to, rows, totals, waits, asOf, uncounted } = await read(wish, steps)
  const formerSteps = stepsOf(zone, before, steps.grain)
  const former = { ...(await read(before, formerSteps)), steps: formerSteps }
  const by = groupBy?.find((one) => one !== 'day') ?? (groupBy ? undefined : usualGroups[0])
  const isByClass = metric === 'tokens' && groupBy === undefined
  const stack = isByClass
    ? classStack(rows, steps)
    : metric !== 'first_token' && by && by !== 'day'
      ? await readStack(deps, { ...wish, by, metric, steps })
      : undefined
  const tableBy = groupBy ?? usualGroups
  const days = stepsOf(zone, wish, 'day')
  const usage = await usageOf(deps, { ...wish, steps: days, groupBy: tableBy, waits: true }).catch(
    asRefusal,
  )
  const table =
    usage instanceof Refusal ? usage : await tableOf(deps, wish.account, usage, page, metric)
  return {
    ...{ from, to, zone, metric, groupBy: tableBy, steps, rows, totals, waits },
    ...{ former, asOf, uncounted, stack, table },
  }
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

/** The values of the steps of a period, of a metric that adds up. */
export const stepValues = (
  { rows, steps }: Pick<Report, 'rows' | 'steps'>,
  metric: SummedMetric,
): number[] => valuesOf(rows, steps, (row) => sizeOf(metric, row))

async function tableOf(
  { usage }: Pick<Deps, 'usage'>,
  account: string,
  { rows: all, totals, waits }: Usage,
  wanted: number,
  metric: Metric,
): Promise<ReportTable> {
  const pages = Math.max(1, Math.ceil(all.length / pageRows))
  const page = Math.min(wanted, pages)
  const sorted = all.toSorted(inOrderOf(metric === 'first_token' ? 'requests' : metric))
  const rows = sorted.slice((page - 1) * pageRows, page * pageRows)
  const keyIds = new Set(rows.flatMap(({ keyId }) => keyId ?? []))
  const keyNames = await usage.keyNames(account, [...keyIds])
  return { rows, count: all.length, page, pages, totals, waits, keyNames }
}

/** Equal rows stay in the order of their names. */
const inOrderOf =
  (metric: SummedMetric) =>
  (a: UsageRow, b: UsageRow): number =>
    (b.day ?? 0) - (a.day ?? 0) || sizeOf(metric, b) - sizeOf(metric, a) || b.runs - a.runs
