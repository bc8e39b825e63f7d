/** Defines usage: runs of an account by the day on which they ended. */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import {
  cachedUnitsOf,
  cacheWriteUnitsOf,
  inputUnitsOf,
  outputUnitsOf,
  reasoningUnitsOf,
} from '../../models/meter.ts'
import type { EndedRun, UsageDayRow } from '../../storage/db/schema/schema.ts'

/**
 * Usage: what an account's keys ran, summed up from its receipts by day, key, model and tag. A run
 * counts on the day (UTC) that it ended, which is when it was charged.
 */
export type Sums = {
  runs: number
  succeeded: number
  /** All tokens that were read, and all that were written. */
  inputUnits: number
  outputUnits: number
  /** Of those read: from a cache, and written to one. */
  cachedUnits: number
  cacheWriteUnits: number
  /** Of those written: reasoning at a rate of its own. */
  reasoningUnits: number
  cost: Nusd
}

/** The counted part of an ended run. */
export type CountedRun = Pick<
  EndedRun,
  'accountId' | 'keyId' | 'model' | 'status' | 'lines' | 'cost' | 'tags' | 'finishedAt'
>

export const dayMs = 86_400_000

export const dayOf = (at: Millis): Millis => at - (at % dayMs)

export const noSums = (): Sums => ({
  runs: 0,
  succeeded: 0,
  inputUnits: 0,
  outputUnits: 0,
  cachedUnits: 0,
  cacheWriteUnits: 0,
  reasoningUnits: 0,
  cost: 0n,
})

/** A run's own sums. */
export const sumsOf = (run: Pick<CountedRun, 'status' | 'lines' | 'cost'>): Sums => ({
  runs: 1,
  succeeded: run.status === 'succeeded' ? 1 : 0,
  inputUnits: inputUnitsOf(run.lines),
  outputUnits: outputUnitsOf(run.lines),
  cachedUnits: cachedUnitsOf(run.lines),
  cacheWriteUnits: cacheWriteUnitsOf(run.lines),
  reasoningUnits: reasoningUnitsOf(run.lines),
  cost: run.cost,
})

export function addSums(total: Sums, more: Sums): void {
  total.runs += more.runs
  total.succeeded += more.succeeded
  total.inputUnits += more.inputUnits
  total.outputUnits += more.outputUnits
  total.cachedUnits += more.cachedUnits
  total.cacheWriteUnits += more.cacheWriteUnits
  total.reasoningUnits += more.reasoningUnits
  total.cost += more.cost
}

/** The rows that some runs add up to, in the order of their primary key. */
export function toUsageDays(runs: readonly UntaggedRun[]): UsageDayRow[] {
  const ofKey = new Map<string, UsageDayRow[]>()
  for (const run of runs) {
    const { keyId } = run
    const days = ofKey.get(keyId)
    const row = days && rowFor(days, run)
    if (row) addSums(row, sumsOf(run))
    else if (days) days.push(toUsageDay(run))
    else ofKey.set(keyId, [toUsageDay(run)])
  }
  return [...ofKey.values()].flat().sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

type UntaggedRun = Omit<CountedRun, 'tags'>

function rowFor(days: UsageDayRow[], { accountId, model, finishedAt }: UntaggedRun) {
  const day = dayOf(finishedAt)
  for (const row of days) {
    if (row.day === day && row.model === model && row.accountId === accountId) return row
  }
  return undefined
}

const toUsageDay = (run: UntaggedRun): UsageDayRow => {
  const { accountId, keyId, model } = run
  return { accountId, day: dayOf(run.finishedAt), keyId, model, ...sumsOf(run) }
}

/** Only the name of a model can have a space in it. */
const placeOf = ({ accountId, day, keyId, model }: UsageDayRow): string =>
  `${accountId} ${day} ${keyId} ${model}`
