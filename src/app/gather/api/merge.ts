/** Merges what several shards say of their public figures and receipts. */

import type { RecentAnswer, StatsAnswer } from '../../../front/explorer/shapes.ts'
import { type Nusd, parseUsd, toUsd } from '../../../kernel/money.ts'

/** The answer of one shard. */
export type ShardAnswer<T> = { shard: string; answer: T }

type Point = StatsAnswer['series'][number]
type TopModel = StatsAnswer['top_models'][number]
type MergedStats = Omit<StatsAnswer, 'shard'>

/** As many models as a shard lists. */
const topMax = 10

/**
 * The sums of all shards. A median of medians would be none, so it is null. A model that is not
 * among the ten of a shard lacks what it did there.
 */
export function mergeStats(all: readonly ShardAnswer<StatsAnswer>[]): MergedStats {
  const answers = all.map(({ answer }) => answer)
  const sum = (of: (one: StatsAnswer) => number) => answers.reduce((n, one) => n + of(one), 0)
  const runs = sum((one) => one.runs)
  const succeeded = sum((one) => one.series.reduce((n, point) => n + point.succeeded, 0))
  const receipts = sum((one) => one.receipts)
  const anchored = sum((one) => one.receipts * (one.anchored_share_bps ?? 0))
  const [first] = answers
  const starts = answers.flatMap(({ from }) => from ?? []).toSorted()
  return {
    object: 'explorer.stats',
    window: first?.window ?? '24h',
    from: starts[0] ?? null,
    receipts,
    anchored_share_bps: receipts === 0 ? null : Math.floor(anchored / receipts),
    runs,
    success_rate_bps: runs === 0 ? null : Math.floor((succeeded * 10_000) / runs),
    volume_usd: toUsd(answers.reduce((n, one) => n + usdOf(one.volume_usd), 0n)),
    median_first_token_ms: null,
    ...seriesOf(answers),
    top_models: topOf(answers),
  }
}

/** Points of one length; months where any shard has grown past days. */
function seriesOf(answers: readonly StatsAnswer[]): Pick<MergedStats, 'series_by' | 'series'> {
  const series_by = lengths.find((one) => answers.some((a) => a.series_by === one)) ?? 'hour'
  const points = new Map<string, Point>()
  for (const point of answers.flatMap(({ series }) => series)) {
    const at = startOf(point.at, series_by)
    const known = points.get(at) ?? { at, runs: 0, succeeded: 0 }
    const { runs, succeeded } = known
    points.set(at, { at, runs: runs + point.runs, succeeded: succeeded + point.succeeded })
  }
  const series = [...points.values()].toSorted((a, b) => (a.at < b.at ? -1 : 1))
  return { series_by, series }
}

const lengths = ['month', 'day', 'hour'] as const

/** The beginning of the month, the day or the hour (UTC) of a time as shards write it. */
function startOf(at: string, by: StatsAnswer['series_by']): string {
  const kept = by === 'month' ? 7 : by === 'day' ? 10 : 13
  return `${at.slice(0, kept)}${'0000-01-01T00:00:00.000Z'.slice(kept)}`
}

function topOf(answers: readonly StatsAnswer[]): TopModel[] {
  const found = Map.groupBy(
    answers.flatMap((one) => one.top_models),
    ({ model }) => model,
  )
  const merged = [...found].map(([model, parts]): TopModel => {
    const runs = parts.reduce((n, one) => n + one.runs, 0)
    // A shard that shows too few runs to tell their cost hides it here too.
    const isHidden = parts.some(({ volume_usd }) => volume_usd === null)
    const volume = parts.reduce((n, one) => n + usdOf(one.volume_usd ?? '0'), 0n)
    return { model, runs, volume_usd: isHidden ? null : toUsd(volume) }
  })
  return merged.toSorted((a, b) => b.runs - a.runs || (a.model < b.model ? -1 : 1)).slice(0, topMax)
}

/** Sums of a shard can be larger than an amount that people type. */
function usdOf(text: string): Nusd {
  const small = parseUsd(text)
  if (small !== undefined) return small
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
}

/** The newest of all shards by the time that each row shows; those of one time by shard. */
export function mergeRecent(all: readonly ShardAnswer<RecentAnswer>[], limit: number) {
  const rows = all.flatMap(({ shard, answer }) =>
    answer.data.map((row) => ({ ...row, shard, at: timeOf(row) })),
  )
  const newest = rows.toSorted((a, b) => (a.at === b.at ? 0 : a.at > b.at ? -1 : 1))
  return {
    object: 'list' as const,
    data: newest.slice(0, limit).map(({ at: _, ...row }) => row),
    has_more: newest.length > limit || all.some(({ answer }) => answer.has_more),
    first_id: null,
    last_id: null,
  }
}

/** Receipts show their minute, passports when they were made, anchors when their block was. */
function timeOf(row: object): string {
  const { minute, created_at, block_time } = row as Record<string, unknown>
  return String(minute ?? created_at ?? block_time ?? '')
}
