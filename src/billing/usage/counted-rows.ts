/** The rows that ended runs add up to: by day, by quarter of an hour, and by wait. */
import type { Millis } from '../../kernel/clock.ts'
import { quarterMs } from '../../kernel/zone.ts'
import type { FirstTokenRow, UsageDayRow, UsageQuarterRow } from '../../storage/db/schema/schema.ts'
import { barOf } from './first-tokens.ts'
import { addSums, dayOf, providerOf, type Sums, sumsOf, type UntaggedRun } from './usage.ts'

export const quarterOf = (at: Millis): Millis => at - (at % quarterMs)

/** The rows that some runs add up to, in the order of their primary key. */
export const toUsageDays = (runs: readonly UntaggedRun[]): UsageDayRow[] =>
  summed(runs, ({ accountId, keyId, model, finishedAt }) => ({
    accountId,
    day: dayOf(finishedAt),
    keyId,
    model,
  }))

export const toUsageQuarters = (runs: readonly UntaggedRun[]): UsageQuarterRow[] =>
  summed(runs, quarterGroup)

const quarterGroup = (run: UntaggedRun) => ({
  accountId: run.accountId,
  at: quarterOf(run.finishedAt),
  keyId: run.keyId,
  provider: providerOf(run),
  model: run.model,
})

export function toFirstTokens(runs: readonly UntaggedRun[]): FirstTokenRow[] {
  const found = new Map<string, FirstTokenRow>()
  for (const run of runs) {
    const bar = barOf(run)
    if (bar === undefined) continue
    const group = { bar, ...quarterGroup(run) }
    const name = nameOf(group)
    const row = found.get(name)
    if (row) row.runs++
    else found.set(name, { ...group, runs: 1 })
  }
  return inOrder(found)
}

function summed<G extends Record<string, string | number>>(
  runs: readonly UntaggedRun[],
  groupOf: (run: UntaggedRun) => G,
): (G & Sums)[] {
  const found = new Map<string, G & Sums>()
  for (const run of runs) {
    const group = groupOf(run)
    const name = nameOf(group)
    const row = found.get(name)
    if (row) addSums(row, sumsOf(run))
    else found.set(name, { ...group, ...sumsOf(run) })
  }
  return inOrder(found)
}

/** Only the name of a model can have a space in it, and it comes last. */
const nameOf = (group: Record<string, string | number>): string => Object.values(group).join(' ')

/** All writers lock rows in this order. */
const inOrder = <T>(found: Map<string, T>): T[] =>
  [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
