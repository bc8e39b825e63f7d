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
import type { EndedRun } from '../../storage/db/schema/schema.ts'

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

/** The owner of usage: an account, or some of its keys. */
export type UsageOwner = { account: string; keyIds?: readonly string[] | undefined }

/** The counted part of an ended run. */
export type CountedRun = Pick<
  EndedRun,
  | 'accountId'
  | 'keyId'
  | 'kind'
  | 'model'
  | 'route'
  | 'status'
  | 'lines'
  | 'cost'
  | 'tags'
  | 'startedAt'
  | 'firstByteAt'
  | 'finishedAt'
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

/** The upstream of a route `upstream:model`; empty where none was tried. */
export const providerOf = ({ route }: Pick<EndedRun, 'route'>): string =>
  route.split(':', 1)[0] ?? ''

/** A run without what only exports and tags need. */
export type UntaggedRun = Omit<CountedRun, 'tags'>
