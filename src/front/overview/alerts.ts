/** Decides which warnings a dashboard shows, and in which order. */
import { statusOf } from '../../access/keys/key.ts'
import type { ShownKey } from '../../access/keys/shown-key.ts'
import { dayMs, dayOf } from '../../billing/usage/usage.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { windowEnd } from '../../ledger/window.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import type { BalanceForecast } from './spend.ts'

/** A condition that stops runs, or will, and that the reader can act on. */
export type Alert =
  | { kind: 'log_diverged' | 'unbalanced' | 'degraded' }
  | { kind: 'balance_used_up' }
  | { kind: 'balance_low'; days: number }
  | { kind: 'cap_used_up'; key: KeyRow; resetsAt: Millis | null }
  /** `stopsInMs` at today's pace; undefined if that does not reach the cap. */
  | { kind: 'cap_near'; key: KeyRow; left: Nusd; stopsInMs: number | undefined }
  | { kind: 'key_expires'; key: KeyRow }
  /** The number of further alerts about keys. */
  | { kind: 'more_keys'; count: number }

type AlertFacts = {
  now: Millis
  /** Balance less holds; undefined for an account that never had credit. */
  available: Nusd | undefined
  lasting: BalanceForecast | undefined
  keys: readonly ShownKey[]
  /** The spending of each key today, without its children. */
  spentToday: ReadonlyMap<string, Nusd>
  isDiverged: boolean
  isUnbalanced: boolean
  isDegraded: boolean
}

/** The used part of a cap from which on an alert shows, in percent. */
const nearPercent = 80n
export const expiresSoonMs = 3 * dayMs
const lowDays = 3
/** Alerts about keys that are shown one by one. */
const keysMax = 3

/** All alerts, worst first. */
export function alertsOf(found: AlertFacts): Alert[] {
  const alerts: Alert[] = []
  if (found.isDiverged) alerts.push({ kind: 'log_diverged' })
  if (found.isUnbalanced) alerts.push({ kind: 'unbalanced' })
  if (found.isDegraded && alerts.length === 0) alerts.push({ kind: 'degraded' })
  const { available, lasting } = found
  if (available !== undefined && available <= 0n) alerts.push({ kind: 'balance_used_up' })
  else if (available !== undefined && lasting && lasting.days < lowDays) {
    alerts.push({ kind: 'balance_low', days: lasting.days })
  }
  const ofKeys = keyAlerts(found)
  alerts.push(...ofKeys.slice(0, keysMax))
  if (ofKeys.length > keysMax) alerts.push({ kind: 'more_keys', count: ofKeys.length - keysMax })
  return alerts
}

/** Alerts about keys, those that stop first coming first. */
function keyAlerts({ keys, now, spentToday }: AlertFacts): Alert[] {
  const spent = spentWithBelow(keys, spentToday)
  const usable = keys.filter(({ chain }) => statusOf(chain, now) === 'usable')
  const found = usable.flatMap((shown): { at: number; alert: Alert }[] => {
    const cap = capAlert(shown, spent.get(shown.key.id) ?? 0n, now)
    const { key } = shown
    const expires: Alert[] =
      key.expiresAt - now <= expiresSoonMs ? [{ kind: 'key_expires', key }] : []
    return [...cap, ...expires.map((alert) => ({ at: key.expiresAt - now, alert }))]
  })
  return found.toSorted((a, b) => a.at - b.at).map(({ alert }) => alert)
}

function capAlert(
  { key, window }: ShownKey,
  spentToday: Nusd,
  now: Millis,
): { at: number; alert: Alert }[] {
  const used = (window?.spent ?? 0n) + (window?.held ?? 0n)
  const left = key.capLimit - used
  const resetsAt = windowEnd(key.capWindow, now)
  if (left <= 0n) return [{ at: 0, alert: { kind: 'cap_used_up', key, resetsAt } }]
  if (used * 100n < key.capLimit * nearPercent) return []
  const elapsed = Math.max(now - dayOf(now), 1)
  const ms = spentToday > 0n ? Number((left * BigInt(elapsed)) / spentToday) : undefined
  const isReached = ms !== undefined && (resetsAt === null || now + ms < resetsAt)
  const stopsInMs = isReached ? ms : undefined
  const at = stopsInMs ?? Number.MAX_SAFE_INTEGER
  return [{ at, alert: { kind: 'cap_near', key, left, stopsInMs } }]
}

/** The spend of each key with that of its descendants, which counts against its cap too. */
function spentWithBelow(
  keys: readonly ShownKey[],
  spentToday: ReadonlyMap<string, Nusd>,
): Map<string, Nusd> {
  const sums = new Map<string, Nusd>()
  for (const { key } of keys) {
    const spent = spentToday.get(key.id)
    if (spent === undefined) continue
    for (const id of key.lineage) sums.set(id, (sums.get(id) ?? 0n) + spent)
  }
  return sums
}
