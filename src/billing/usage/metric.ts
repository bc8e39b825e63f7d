/** Defines the four things that the chart of usage can show. */
import { type Waits, waitAt } from './first-tokens.ts'
import type { Sums } from './usage.ts'

export const metrics = ['spend', 'requests', 'tokens', 'first_token'] as const
export type Metric = (typeof metrics)[number]

/** A metric that adds up: nano-USD, runs, or tokens read and written. */
export type SummedMetric = Exclude<Metric, 'first_token'>

export function sizeOf(metric: SummedMetric, sums: Sums): number {
  if (metric === 'spend') return Number(sums.cost)
  return metric === 'requests' ? sums.runs : sums.inputUnits + sums.outputUnits
}

/** The classes of tokens that a chart without groups stacks. */
export const tokenClasses = ['Input', 'Cached input', 'Output'] as const

/** Tokens of each class, in their order. */
export const classesOf = ({ inputUnits, cachedUnits, outputUnits }: Sums): readonly number[] => [
  inputUnits - cachedUnits,
  cachedUnits,
  outputUnits,
]

/** The shares of chats whose wait the chart shows, and their names. */
export const waitShares = [
  ['Median', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
] as const

/** The waits in ms, in the order of {@link waitShares}; undefined without a chat. */
export const waitsOf = (waits: Waits): readonly (number | undefined)[] =>
  waitShares.map(([, share]) => waitAt(waits, share))
