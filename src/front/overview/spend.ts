/** Computes the daily spending of an account, and how long its balance lasts. */
import { LRUCache } from 'lru-cache'
import type { Deps } from '../../app/deps-port.ts'
import { stepsOf } from '../../billing/usage/chart-steps.ts'
import { type UsageRow, usageOf } from '../../billing/usage/sum.ts'
import { dayMs } from '../../billing/usage/usage.ts'
import type { Millis } from '../../kernel/clock.ts'
import { max, type Nusd } from '../../kernel/money.ts'
import { dayAway, dayStart, utcZone, type ZoneName } from '../../kernel/zone.ts'

/** The spend per day, today last. */
export type Spend = { days: { day: Millis; cost: Nusd }[]; total: Nusd; runs: number }

export const spendDays = 30
/** Days averaged for the current pace. */
const latelyDays = 7
/** Time after midnight by which every run of the day before is stored, in ms. */
const finalAfterMs = 600_000
/** Lifetime of cached past days until then, in ms. */
const notFinalMs = 10_000
const rememberedMax = 10_000

export type ReadSpend = (
  account: string,
  now: Millis,
  zone?: ZoneName,
) => Promise<{ spend: Spend; spentToday: Map<string, Nusd> }>

type Past = { today: Millis; until: Millis; rows: UsageRow[] }

/**
 * Reads the spend of accounts per day of a zone (default: UTC), and per key today. Past days no
 * longer change and are cached, because an account can have many keys and models a day.
 */
export function spendReader(deps: Pick<Deps, 'usage' | 'heads'>): ReadSpend {
  const remembered = new LRUCache<string, Past>({ max: rememberedMax })
  deps.heads.onLost(() => remembered.clear())

  const readPast = async (account: string, now: Millis, zone: ZoneName): Promise<UsageRow[]> => {
    const today = dayStart(zone, now)
    const known = remembered.get(`${account} ${zone}`)
    if (known?.today === today && now < known.until) return known.rows
    const range = { from: dayAway(zone, now, 1 - spendDays), to: today }
    const steps = stepsOf(zone, range, 'day')
    const wish = { account, ...range, groupBy: ['day'], steps } as const
    const { rows, uncounted } = await usageOf(deps, wish)
    const isFinal = now - today > finalAfterMs && uncounted === 0
    const until = isFinal ? Number.POSITIVE_INFINITY : now + notFinalMs
    remembered.set(`${account} ${zone}`, { today, until, rows })
    return rows
  }

  return async (account, now, zone = utcZone) => {
    const today = dayStart(zone, now)
    const past = await readPast(account, now, zone)
    const range = { from: today, to: dayAway(zone, now, 1) }
    const { rows, totals } = await usageOf(deps, { account, ...range, groupBy: ['key'] })
    const spend = spendOf([...past, { day: today, ...totals }], today, zone)
    return { spend, spentToday: new Map(rows.map(({ keyId, cost }) => [keyId ?? '', cost])) }
  }
}

/** Sums rows per day; days without a run cost 0. */
export function spendOf(
  rows: readonly Pick<UsageRow, 'day' | 'cost' | 'runs'>[],
  today: Millis,
  zone = utcZone,
): Spend {
  const costs = new Map(rows.map(({ day, cost }) => [day, cost]))
  const days = Array.from({ length: spendDays }, (_, i) => {
    const day = dayAway(zone, today, i - spendDays + 1)
    return { day, cost: costs.get(day) ?? 0n }
  })
  const total = rows.reduce((sum, { cost }) => sum + cost, 0n)
  return { days, total, runs: rows.reduce((sum, { runs }) => sum + runs, 0) }
}

export type BalanceForecast = { days: number; perDay: Nusd }

/**
 * How long the balance lasts at the pace of the last seven days, or since the first spend in them;
 * undefined without any.
 */
export function lastingOf(
  available: Nusd,
  { days }: Pick<Spend, 'days'>,
  now: Millis,
): BalanceForecast | undefined {
  const lately = days.slice(-latelyDays)
  const first = lately.find(({ cost }) => cost > 0n)
  if (!first) return undefined
  const spent = lately.reduce((sum, { cost }) => sum + cost, 0n)
  // A first spend today counts as a whole day, so one burst does not set the pace.
  const elapsed = Math.max(now - first.day, dayMs)
  const perDay = max(1n, (spent * BigInt(dayMs)) / BigInt(elapsed))
  return { days: Number(max(0n, available) / perDay), perDay }
}
