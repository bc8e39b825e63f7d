/** Counters and histograms of the metrics. */
import type { Family, Sample } from '../../kernel/exposition.ts'

/** Label values come from the configuration or a closed list. */
export type Counter<Label extends string> = {
  add(labels: Record<Label, string>, amount?: number | bigint): void
  family(): Family
}

export function counter<Label extends string>(
  name: string,
  help: string,
  names: readonly Label[],
): Counter<Label> {
  const series = makeSeries<Label, { value: number | bigint }>(names, () => ({ value: 0 }))
  return {
    add(labels, amount = 1) {
      const one = series.of(labels)
      // An exact amount stays exact: money is never a float.
      one.value =
        typeof amount === 'bigint' ? BigInt(one.value) + amount : Number(one.value) + amount
    },
    family: () => ({
      name,
      type: 'counter',
      help,
      samples: series.all().map(([labels, { value }]) => ({ labels, value })),
    }),
  }
}

export type Histogram<Label extends string> = {
  observe(labels: Record<Label, string>, value: number): void
  family(): Family
}

/** Counts values by rising upper bounds; reported buckets are cumulative. */
export function histogram<Label extends string>(
  name: string,
  help: string,
  names: readonly Label[],
  bounds: readonly number[],
): Histogram<Label> {
  const series = makeSeries<Label, Buckets>(names, () => ({
    counts: bounds.map(() => 0),
    sum: 0,
    count: 0,
  }))
  return {
    observe(labels, value) {
      const one = series.of(labels)
      one.sum += value
      one.count++
      const at = bounds.findIndex((bound) => value <= bound)
      if (at !== -1) one.counts[at] = (one.counts[at] ?? 0) + 1
    },
    family: () => ({
      name,
      type: 'histogram',
      help,
      samples: series.all().flatMap(([labels, one]) => samplesOf(labels, one, bounds)),
    }),
  }
}

type Buckets = { counts: number[]; sum: number; count: number }

function samplesOf(
  labels: Record<string, string>,
  { counts, sum, count }: Buckets,
  bounds: readonly number[],
): Sample[] {
  let below = 0
  const buckets = bounds.map((bound, i) => {
    below += counts[i] ?? 0
    return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: below }
  })
  return [
    ...buckets,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ]
}

/** One value per label set seen. */
function makeSeries<Label extends string, T>(names: readonly Label[], make: () => T) {
  const known = new Map<string, { labels: Record<Label, string>; value: T }>()
  return {
    of(labels: Record<Label, string>): T {
      // Each run is counted a dozen times, mostly by one label: no array, and no text if it is one.
      let id = ''
      for (const name of names) id = id === '' ? labels[name] : `${id}\n${labels[name]}`
      const found = known.get(id)
      if (found) return found.value
      const made = { labels: { ...labels }, value: make() }
      known.set(id, made)
      return made.value
    },
    all: (): [Record<Label, string>, T][] =>
      [...known.values()].map(({ labels, value }) => [labels, value]),
  }
}
