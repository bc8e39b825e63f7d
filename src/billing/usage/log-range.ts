/** Finds the ranges of the log that hold the receipts of given days. */
import type { Millis } from '../../kernel/clock.ts'
import { dayMs } from './usage.ts'

/** Places of the log: `start` ≤ place < `end`. */
export type Span = { start: number; end: number }

/** Finds the counted receipts of each day in the log, also after a clock went back. */
export type DayMarks = ReadonlyMap<Millis, Span>

/** A time: `from` ≤ at < `to`. */
export type Period = { from: Millis; to: Millis }

/**
 * The least of the log that holds every receipt of some days: their marks as far as receipts are
 * counted, and all that is not counted yet. In order, apart, and ending at `size`.
 */
export function spansOf(
  days: Iterable<Millis>,
  marks: DayMarks,
  { cursor, size }: { cursor: number; size: number },
): Span[] {
  const counted = [...days].flatMap((day) => marks.get(day) ?? [])
  return merge([...counted, { start: cursor, end: size }], size)
}

/** Overlapping and touching spans made one, none of them beyond `size`. */
function merge(spans: Span[], size: number): Span[] {
  const merged: Span[] = []
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    const bounded = Math.min(end, size)
    if (last && start <= last.end) last.end = Math.max(last.end, bounded)
    else if (start < bounded) merged.push({ start, end: bounded })
  }
  return merged
}

/**
 * The same places in pieces of at most `most`. The embedded database answers at once, so between
 * two pieces everybody else gets a turn.
 */
export async function* walk(spans: readonly Span[], most: number): AsyncGenerator<Span> {
  for (const { start, end } of spans) {
    for (let at = start; at < end; at += most) {
      yield { start: at, end: Math.min(at + most, end) }
      await new Promise((resume) => setImmediate(resume))
    }
  }
}

export const lengthOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, { start, end }) => sum + end - start, 0)

/** A period as its whole days and what is left at its edges, each within one day. */
export function splitDays({ from, to }: Period): { whole: Period; edges: Period[] } {
  const first = Math.ceil(from / dayMs) * dayMs
  const last = Number.isFinite(to) ? Math.floor(to / dayMs) * dayMs : to
  const none = { from: first, to: first }
  // Both ends within one day.
  if (first > last) return { whole: none, edges: [{ from, to }] }
  const edges = [
    { from, to: first },
    { from: last, to },
  ]
  return { whole: { from: first, to: last }, edges: edges.filter((edge) => edge.from < edge.to) }
}

export const isIn = ({ from, to }: Period, at: Millis): boolean => from <= at && at < to
