/** Defines margins: sums of runs whose cost to the operator is known. */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'

export const marginGroups = ['model', 'account', 'day'] as const
export type MarginGroup = (typeof marginGroups)[number]

export type MarginSums = { runs: number; revenue: Nusd; cost: Nusd }

/** Sums of a model, an account or a day; `name` is an address or the day's midnight as text. */
export type MarginRow = MarginSums & { name: string }

/** A run with a known cost that ended after the count. */
export type FreshRun = {
  finishedAt: Millis
  model: string
  accountId: string
  revenue: Nusd
  cost: Nusd
}

/** Sums of whole days, what ended since, and how many leaves neither of them has. */
export type MarginPicture = { sums: MarginRow[]; fresh: FreshRun[]; uncounted: number }
