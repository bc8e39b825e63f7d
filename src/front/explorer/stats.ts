/** The explorer's figures per time window, cached for ten seconds. */
import type { Deps } from '../../app/deps-port.ts'
import { type Clock, type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { type Nusd, toUsd } from '../../kernel/money.ts'
import type { ExplorerCountRow, ExplorerModelRow } from '../../storage/db/schema/schema.ts'
import { addHistograms, medianOf, noFirstTokens } from '../../storage/figures/figure.ts'
import { dayMs, grainStart, hourMs } from '../../storage/figures/grain.ts'
import type { StatsAnswer } from './shapes.ts'
import type { CountProgress } from './store.ts'

/** The time windows of figures. */
export const windows = ['24h', '7d', '30d', 'all'] as const
export type Window = (typeof windows)[number]

/**
 * Receipts, runs and outcomes count private ones too. Volume, first token and models count only
 * what owners show on public receipts, so that the cost of a private run cannot be inferred.
 */
export type Stats = {
  window: Window
  /** Its beginning, a whole hour or day (UTC); undefined before the first receipt. */
  from: Millis | undefined
  /** In the whole log, regardless of the window. */
  receipts: number
  /** The anchored share of receipts in basis points; undefined without receipts. */
  anchoredShareBps: number | undefined
  /** Runs that ended in the window; each leaves one receipt. */
  runs: number
  succeeded: number
  volume: Nusd
  /** Undefined below {@link crowdMin} values. */
  medianFirstTokenMs: number | undefined
  seriesBy: 'hour' | 'day' | 'month'
  series: Point[]
  topModels: { model: string; runs: number; volume: Nusd | undefined }[]
}

/** `at` is the beginning of the hour, day or month. */
export type Point = { at: Millis; runs: number; succeeded: number }

/** Sums over fewer runs are hidden, because they could reveal a single account. */
export const crowdMin = 5
const topMax = 10
/** A chart of more days is drawn by month. */
const daysMax = 92
/** Cache lifetime of figures, in ms. */
export const freshMs = 10_000

/** Reads the figures of each window at most once in {@link freshMs}. */
export function makeStats(deps: Deps): (window: Window) => Promise<Stats> {
  const read = windows.map((window) => [
    window,
    remembered(deps.clock, () => readStats(deps, window)),
  ])
  const byWindow = new Map(read as [Window, () => Promise<Stats>][])
  return (window) => byWindow.get(window)?.() ?? readStats(deps, window)
}

function remembered<T>(clock: Pick<Clock, 'now'>, read: () => Promise<T>): () => Promise<T> {
  let known: { at: Millis; value: Promise<T> } | undefined
  return () => {
    const now = clock.now()
    if (!known || Math.abs(now - known.at) >= freshMs) {
      const value = read()
      known = { at: now, value }
      // A failed read is not cached.
      value.catch(() => {
        known = undefined
      })
    }
    return known.value
  }
}

async function readStats(deps: Deps, window: Window): Promise<Stats> {
  const { explorer, clock } = deps
  const { grain, from, modelGrain } = spanOf(window, clock.now())
  const counted = await explorer.counted()
  const counts = await explorer.counts(grain, from)
  const models = await explorer.models(modelGrain, modelGrain === 'all' ? 0 : from)
  const start = window === 'all' ? counts[0]?.at : from
  const seriesBy = window === 'all' && counts.length > daysMax ? 'month' : grain
  const firstTokens = models.reduce(
    (all, { firstTokens }) => addHistograms(all, firstTokens),
    noFirstTokens(),
  )
  const isCrowd = firstTokens.reduce((all, count) => all + count, 0) >= crowdMin
  return {
    window,
    from: start,
    receipts: counted.receipts,
    anchoredShareBps: bps(counted.receipts - (await unanchoredOf(deps, counted)), counted.receipts),
    runs: sumOf(counts, ({ receipts }) => receipts),
    succeeded: sumOf(counts, ({ succeeded }) => succeeded),
    volume: models.reduce((all, { cost }) => all + cost, 0n),
    medianFirstTokenMs: isCrowd ? medianOf(firstTokens) : undefined,
    seriesBy,
    series: start === undefined ? [] : toSeries(counts, { start, now: clock.now(), by: seriesBy }),
    topModels: toTopModels(models),
  }
}

/** The span of a window in whole hours or days, including the current one. */
export function spanOf(window: Window, now: Millis) {
  const today = grainStart('day', now)
  if (window === 'all') return { grain: 'day', from: 0, modelGrain: 'all' } as const
  if (window === '30d')
    return { grain: 'day', from: today - 29 * dayMs, modelGrain: 'day' } as const
  if (window === '7d') return { grain: 'hour', from: today - 6 * dayMs, modelGrain: 'day' } as const
  return { grain: 'hour', from: grainStart('hour', now) - 23 * hourMs, modelGrain: 'hour' } as const
}

/**
 * Counted receipts without an anchor: the leaves above the last anchor of each log, which include
 * leaves other than receipts.
 */
async function unanchoredOf(
  { anchors, logs }: Pick<Deps, 'anchors' | 'logs'>,
  { cursor, receipts }: CountProgress,
): Promise<number> {
  let leaves = 0
  for (const { origin, start, end } of logs.all) {
    const anchored = (await anchors.newest(origin))?.size ?? 0
    leaves += Math.max(0, Math.min(end ?? cursor, cursor) - start - anchored)
  }
  return Math.min(leaves, receipts)
}

type SeriesOf = { start: Millis; now: Millis; by: Stats['seriesBy'] }

/** One point per hour, day or month, also for those without runs. */
export function toSeries(
  counts: readonly ExplorerCountRow[],
  { start, now, by }: SeriesOf,
): Point[] {
  const points = new Map<Millis, Point>()
  for (let at = pointStart(by, start); at <= now; at = nextPoint(by, at)) {
    points.set(at, { at, runs: 0, succeeded: 0 })
  }
  for (const { at, receipts, succeeded } of counts) {
    const point = points.get(pointStart(by, at))
    // A node whose clock is ahead counts into a future hour.
    if (!point) continue
    point.runs += receipts
    point.succeeded += succeeded
  }
  return [...points.values()]
}

function pointStart(by: Stats['seriesBy'], at: Millis): Millis {
  if (by !== 'month') return grainStart(by, at)
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

function nextPoint(by: Stats['seriesBy'], at: Millis): Millis {
  if (by !== 'month') return at + (by === 'hour' ? hourMs : dayMs)
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

function toTopModels(rows: readonly ExplorerModelRow[]): Stats['topModels'] {
  const models = new Map<string, { model: string; runs: number; volume: Nusd }>()
  for (const { model, runs, cost } of rows) {
    const sums = models.get(model) ?? { model, runs: 0, volume: 0n }
    models.set(model, { model, runs: sums.runs + runs, volume: sums.volume + cost })
  }
  return [...models.values()]
    .filter(({ runs }) => runs > 0)
    .sort((a, b) => b.runs - a.runs || (a.model < b.model ? -1 : 1))
    .slice(0, topMax)
    .map((sums) => ({ ...sums, volume: sums.runs < crowdMin ? undefined : sums.volume }))
}

const sumOf = <T>(all: readonly T[], size: (one: T) => number): number =>
  all.reduce((sum, one) => sum + size(one), 0)

/** Basis points, rounded down; undefined if `whole` is 0. */
const bps = (part: number, whole: number): number | undefined =>
  whole === 0 ? undefined : Math.floor((part * 10_000) / whole)

/** The response of `GET /v1/explorer/stats`. */
export const toStatsView = (stats: Stats): StatsAnswer => ({
  object: 'explorer.stats' as const,
  window: stats.window,
  from: stats.from === undefined ? null : toRfc3339(stats.from),
  receipts: stats.receipts,
  anchored_share_bps: stats.anchoredShareBps ?? null,
  runs: stats.runs,
  success_rate_bps: bps(stats.succeeded, stats.runs) ?? null,
  volume_usd: toUsd(stats.volume),
  median_first_token_ms: stats.medianFirstTokenMs ?? null,
  series_by: stats.seriesBy,
  series: stats.series.map(({ at, runs, succeeded }) => ({ at: toRfc3339(at), runs, succeeded })),
  top_models: stats.topModels.map(({ model, runs, volume }) => ({
    model,
    runs,
    volume_usd: volume === undefined ? null : toUsd(volume),
  })),
})
