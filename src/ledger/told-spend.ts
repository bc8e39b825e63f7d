/** Tells accounts what they spent: percentages of a key's cap, and a balance that runs out. */
import { type Millis, toRfc3339 } from '../kernel/clock.ts'
import { type Nusd, toJsonInteger } from '../kernel/money.ts'
import type { AccountRow, WindowRow } from '../storage/db/schema.ts'
import type { NewEvent } from '../storage/outbox/event.ts'
import { addEvent, type Telling } from './tell.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Percentages of a cap that are told, each once in a window. */
const percentages = [50, 80, 100] as const

/**
 * Whether a window spent the next percentage of its cap. Each charge asks it: these are comparisons
 * of whole numbers below 2^53 (caps end at 9e15), exact and without an allocation.
 */
export function passesNext({ told, spent, limit }: WindowRow): boolean {
  const has = Number(spent)
  const left = Number(limit) - has
  if (told === null || told < 50) return has >= left
  if (told < 80) return has >= 4 * left
  return told < 100 && left <= 0
}

/** Tells the percentages that a window passed since it was told one. */
export function tellCap(unit: UnitOfWork, account: string, window: WindowRow): void {
  const { spent, limit } = window
  const passed = percentages.filter((percent) => spent * 100n >= limit * BigInt(percent))
  for (const percent of passed) tellPercentage(unit, account, window, percent)
}

/**
 * Tells that a cap is used up although something is left of it: a run was refused, because that is
 * too little.
 */
export function tellCapUsedUp(unit: UnitOfWork, account: string, window: WindowRow): void {
  tellPercentage(unit, account, window, 100)
}

function tellPercentage(
  unit: UnitOfWork,
  account: string,
  window: WindowRow,
  percent: number,
): void {
  if (percent <= (window.told ?? 0)) return
  const { keyId, windowStart, spent, limit } = window
  window.told = percent
  unit.changed('window', window)
  const data = {
    key_id: keyId,
    threshold: percent,
    spent_nusd: toJsonInteger(spent),
    limit_nusd: toJsonInteger(limit),
    window_start: windowStart === 0 ? null : toRfc3339(windowStart),
  }
  unit.addEvent({ type: 'key.cap_reached', account, subject: keyId, data })
}

/** A movement of money: what it changed, and the balance after it. */
type Movement = { change: Nusd; balance: Nusd; at: Millis }

/** Whether there may be something to tell; of most charges there is not. */
export const concernsBalance = (account: AccountRow, change: Nusd, balance: Nusd): boolean =>
  change > 0n ? account.exhaustedAt !== null : balance === 0n || account.lowBalance !== null

/** Tells that a balance fell below its threshold or to nothing; money that came in ends that. */
export function tellBalance(
  rows: Telling,
  account: AccountRow,
  { change, balance, at }: Movement,
): void {
  const { id, lowBalance } = account
  if (change > 0n) endExhaustion(rows, account)
  if (lowBalance !== null && balance < lowBalance && balance - change >= lowBalance) {
    const data = { balance_nusd: toJsonInteger(balance), threshold_nusd: toJsonInteger(lowBalance) }
    addEvent(rows, { type: 'balance.low', account: id, subject: id, data }, at)
  }
  if (balance > 0n || account.exhaustedAt !== null) return
  account.exhaustedAt = at
  addEvent(rows, exhausted(id, balance), at)
}

function endExhaustion({ written }: Telling, account: AccountRow): void {
  account.exhaustedAt = null
  written.alerts.add(account)
}

/** Nothing is left, or too little for a run that was refused. */
export const exhausted = (account: string, balance: Nusd, required?: Nusd): NewEvent => ({
  type: 'balance.exhausted',
  account,
  subject: account,
  data: {
    balance_nusd: toJsonInteger(balance),
    required_nusd: required === undefined ? null : toJsonInteger(required),
  },
})
