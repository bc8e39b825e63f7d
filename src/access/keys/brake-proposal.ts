/** Proposes a brake for a key from what it spent in the last week. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { max, maxNusd, min, type Nusd } from '../../kernel/money.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { dayMs } from './key.ts'

/** Amounts for the two fields of the form, in nano-USD. */
export type BrakeProposal = { minute: Nusd; hour: Nusd }

/** Cost and number of the runs of a key, and of the keys below it, in `ms` milliseconds. */
export type BrakeSpending = { cost: Nusd; runs: number; ms: number }

const minuteMs = 60_000
const hourMs = 3_600_000

/**
 * Ten times the average minute and the average hour. A span in which no run fits on average counts
 * as one run, so that the proposal always admits ten average runs. Undefined without a cost.
 */
export function proposeBrake({ cost, runs, ms }: BrakeSpending): BrakeProposal | undefined {
  if (cost === 0n || runs === 0) return undefined
  const timesTen = (spanMs: number): Nusd => {
    const spans = Math.min(runs, Math.max(1, Math.floor(ms / spanMs)))
    return min(roundUp(max((cost * 10n) / BigInt(spans), 1n)), maxNusd)
  }
  return { minute: timesTen(minuteMs), hour: timesTen(hourMs) }
}

/** Rounds up to two significant digits. */
function roundUp(amount: Nusd): Nusd {
  const unit = 10n ** BigInt(Math.max(0, String(amount).length - 2))
  return ((amount + unit - 1n) / unit) * unit
}

/** Reads the last seven days (UTC), today included, or the days since the key was created. */
export async function readBrakeProposal(
  { keys }: Pick<Deps, 'keys'>,
  key: KeyRow,
  now: Millis,
): Promise<BrakeProposal | undefined> {
  const since = now - (now % dayMs) - 6 * dayMs
  const spent = await keys.spentSince(key, since)
  return proposeBrake({ ...spent, ms: now - Math.max(since, key.createdAt) })
}
