/** What a process needs at a moment, and how it answered since the moment before. */
export type Sample = {
  /** Since the start of the load. */
  minute: number
  asked: number
  /** Requests that were due and not sent, because too many were on their way. */
  left: number
  rssMiB: number
  heapMiB: number
  handles: number
  walMiB: number
  databaseMiB: number
  /** The histogram of how late timers ran, since the start: counts by upper bound, in seconds. */
  lag: Map<string, number>
  lagP99Ms: number
  medianMs: number
  p99Ms: number
}

type Summed = Exclude<keyof Sample, 'minute' | 'lag'>
export type Span = { minutes: string } & Record<Summed, number>

const spans = 6

/** Samples in a few spans of the same length: sizes as means or at most, times as medians. */
export function spansOf(samples: readonly Sample[]): Span[] {
  const length = Math.ceil(samples.length / spans)
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, i) => {
    const own = samples.slice(i * length, (i + 1) * length)
    const all = (field: Summed): number[] => own.map((sample) => sample[field])
    const sum = (field: Summed): number => all(field).reduce((one, other) => one + other, 0)
    const mean = (field: Summed): number => sum(field) / own.length
    const from = samples[i * length - 1]?.minute ?? 0
    return {
      minutes: `${from.toFixed(0)}–${(own.at(-1)?.minute ?? 0).toFixed(0)}`,
      asked: sum('asked'),
      left: sum('left'),
      rssMiB: mean('rssMiB'),
      heapMiB: mean('heapMiB'),
      handles: mean('handles'),
      walMiB: Math.max(...all('walMiB')),
      databaseMiB: Math.max(...all('databaseMiB')),
      lagP99Ms: medianOf(all('lagP99Ms')),
      medianMs: medianOf(all('medianMs')),
      p99Ms: medianOf(all('p99Ms')),
    }
  })
}

export const medianOf = (values: readonly number[]): number => timesOf(values).median

/** Middle, 99th percentile and largest of some values, none of them sorted; 0 of none. */
export function timesOf(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { count: sorted.length, median: at(0.5), p99: at(0.99), most: at(1) }
}

/** The least upper bound that a part of what a histogram counted since `before` is not above. */
export function boundOf(
  counts: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number> | undefined,
  part: number,
): number {
  const since = (bound: string) => (counts.get(bound) ?? 0) - (before?.get(bound) ?? 0)
  const enough = since('+Inf') * part
  const bound = [...counts.keys()].find((one) => since(one) >= enough) ?? '+Inf'
  return bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
}
