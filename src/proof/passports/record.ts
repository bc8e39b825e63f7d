/** The track record of a passport: what the log says of its keys' runs. */
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'

/**
 * Counted from receipts issued after a key was bound. Times are days and money is a band, so that
 * private runs cannot be inferred.
 */
export type TrackRecord = {
  /** How many leaves of the log were counted. */
  as_of_size: number
  runs: number
  succeeded: number
  /** Hundredths of a percent, rounded down; null without a run. */
  success_rate_bps: number | null
  /** Ids, the most used first, at most {@link modelsMax}. */
  models: string[]
  /** Days (UTC) with a receipt. */
  active_days: number
  /** Midnights (UTC) of the first and the last such day. */
  first_at: string | null
  last_at: string | null
  spend_band: SpendBand
  /** Receipts that show this passport to everybody, now. */
  public_receipts: number
}

export const spendBands = [
  'none',
  'under_1_usd',
  '1_to_10_usd',
  '10_to_100_usd',
  '100_to_1000_usd',
  'over_1000_usd',
] as const
export type SpendBand = (typeof spendBands)[number]

export const modelsMax = 50

/** The counts of a passport. */
export type RecordCounts = Pick<
  PassportRow,
  'runs' | 'succeeded' | 'spent' | 'activeDays' | 'firstAt' | 'lastAt' | 'publicReceipts'
>

export const toTrackRecord = (
  row: RecordCounts,
  models: readonly string[],
  asOfSize: number,
): TrackRecord => ({
  as_of_size: asOfSize,
  runs: row.runs,
  succeeded: row.succeeded,
  success_rate_bps: row.runs === 0 ? null : Math.floor((row.succeeded * 10_000) / row.runs),
  models: [...models],
  active_days: row.activeDays,
  first_at: dayOrNull(row.firstAt),
  last_at: dayOrNull(row.lastAt),
  spend_band: spendBand(row.spent),
  public_receipts: row.publicReceipts,
})

const usd: Nusd = 1_000_000_000n

/** Whole dollars that begin a band belong to it: exactly 1 USD is `1_to_10_usd`. */
export function spendBand(spent: Nusd): SpendBand {
  if (spent <= 0n) return 'none'
  if (spent < usd) return 'under_1_usd'
  if (spent < 10n * usd) return '1_to_10_usd'
  if (spent < 100n * usd) return '10_to_100_usd'
  return spent < 1000n * usd ? '100_to_1000_usd' : 'over_1000_usd'
}

const dayMs = 86_400_000

/** The midnight (UTC) that a moment's day begins with. */
export const dayOf = (at: Millis): Millis => at - (at % dayMs)

const dayOrNull = (at: Millis | null): string | null => (at === null ? null : toRfc3339(dayOf(at)))
