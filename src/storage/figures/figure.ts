/** Computes what a public receipt adds to the public figures and the histogram of first tokens. */
import type { EndedRun, ExplorerModelRow, ShareRow } from '../db/schema/schema.ts'
import { grainStart } from './grain.ts'

/** A receipt's part of the public figures. It has only what the owner made public. */
export type Figure = Pick<ExplorerModelRow, 'model' | 'runs' | 'cost' | 'firstTokens'> & {
  at: number
}

type ShareScope = Pick<ShareRow, 'visibility' | 'sections'> | undefined
export type FiguredRun = Pick<
  EndedRun,
  'model' | 'kind' | 'cost' | 'startedAt' | 'firstByteAt' | 'finishedAt'
>

/**
 * Upper bounds of the histogram of times to the first token, in ms; the last bar has no bound.
 * Never change them: what was added is subtracted by the same bounds.
 */
export const firstTokenBounds: readonly number[] = [
  10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 1000, 1500, 2000, 3000, 5000, 10_000,
  30_000,
]

/**
 * The figure of a receipt under a share: its run if the run is shown, its cost if the charge is
 * shown, under the model '' without the run. Undefined unless the share is public.
 */
export function figureOf(run: FiguredRun, share: ShareScope): Figure | undefined {
  if (share?.visibility !== 'public') return undefined
  const isRunShown = share.sections.includes('run')
  const isChargeShown = share.sections.includes('charge')
  if (!isRunShown && !isChargeShown) return undefined
  return {
    at: run.finishedAt,
    model: isRunShown ? run.model : '',
    runs: isRunShown ? 1 : 0,
    cost: isChargeShown ? run.cost : 0n,
    firstTokens: isRunShown ? toHistogram(run) : noFirstTokens(),
  }
}

/** The rows to add when a share changes: the old figure negative, the new one positive. */
export function figureChanges(
  run: FiguredRun,
  from: ShareScope,
  to: ShareScope,
): ExplorerModelRow[] {
  const [before, after] = [figureOf(run, from), figureOf(run, to)]
  if (isSame(before, after)) return []
  const taken = before && { ...scale(before, -1), at: before.at }
  const changes = [taken, after].flatMap((figure) => (figure ? toRows(figure) : []))
  // All writers lock rows in this order.
  return changes.sort((a, b) => compare(keyOf(a), keyOf(b)))
}

/** The row with the change added. @throws when a figure would fall below zero. */
export function addFigure(row: ExplorerModelRow, change: ExplorerModelRow): ExplorerModelRow {
  const next = {
    ...row,
    runs: row.runs + change.runs,
    cost: row.cost + change.cost,
    firstTokens: addHistograms(row.firstTokens, change.firstTokens),
  }
  if (next.runs < 0 || next.cost < 0n || next.firstTokens.some((count) => count < 0)) {
    throw new Error(`the public figures of ${row.model} would be below zero`)
  }
  return next
}

export const addHistograms = (one: readonly number[], other: readonly number[]): number[] =>
  one.map((count, i) => count + (other[i] ?? 0))

export const noFirstTokens = (): number[] => Array(firstTokenBounds.length + 1).fill(0)

/**
 * The median of a histogram in ms, interpolated within its bar; at most the last bound. Undefined
 * for an empty histogram.
 */
export function medianOf(firstTokens: readonly number[]): number | undefined {
  const half = firstTokens.reduce((sum, count) => sum + count, 0) / 2
  let before = 0
  for (const [i, count] of firstTokens.entries()) {
    if (count > 0 && before + count >= half) {
      const low = firstTokenBounds[i - 1] ?? 0
      const high = firstTokenBounds[i] ?? low
      return Math.round(low + ((half - before) / count) * (high - low))
    }
    before += count
  }
  return undefined
}

/** Empty for an embedding, which has no first token. */
function toHistogram({ kind, startedAt, firstByteAt }: FiguredRun): number[] {
  const counts = noFirstTokens()
  if (kind !== 'chat' || startedAt === null || firstByteAt === null) return counts
  const bar = firstTokenBounds.findIndex((bound) => firstByteAt - startedAt <= bound)
  counts[bar === -1 ? firstTokenBounds.length : bar] = 1
  return counts
}

const toRows = ({ at, ...figure }: Figure): ExplorerModelRow[] =>
  (['hour', 'day', 'all'] as const).map((grain) => ({
    grain,
    at: grainStart(grain, at),
    ...figure,
  }))

const scale = ({ model, runs, cost, firstTokens }: Figure, by: 1 | -1) => ({
  model,
  runs: by * runs,
  cost: BigInt(by) * cost,
  firstTokens: firstTokens.map((count) => by * count),
})

const isSame = (one: Figure | undefined, other: Figure | undefined): boolean =>
  one?.model === other?.model && one?.runs === other?.runs && one?.cost === other?.cost

const keyOf = ({ grain, at, model }: ExplorerModelRow): string => JSON.stringify([grain, at, model])

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
