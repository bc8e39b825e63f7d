/** Writes the events of spending: percentages of a key's cap, and a balance that runs out. */
import { type Millis, toRfc3339 } from '../kernel/clock.ts'
import { type Nusd, toJsonInteger } from '../kernel/money.ts'
import type { AccountRow, WindowRow } from '../storage/db/schema/schema.ts'
import type { NewEvent } from '../storage/outbox/event.ts'
import { addEvent, type EventRows } from './append-event.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Percentages of a cap that have an event, each once per window. */
const percentages = [50, 80, 100] as const

/**
 * Whether a window passed the next percentage of its cap. Every charge calls this, so it compares
 * numbers below 2^53 (caps end at 9e15): exact, and without an allocation.
 */
export function passesNext({ told, spent, limit }: WindowRow): boolean {
  const has = Number(spent)
  const left = Number(limit) - has
  if (told === null || told < 50) return has >= left
  if (told < 80) return has >= 4 * left
  return told < 100 && left <= 0
}

/** Writes an event for each percentage that a window passed since the last one. */
export function alertCap(unit: UnitOfWork, account: string, window: WindowRow): void {
  const { spent, limit } = window
  const passed = percentages.filter((percent) => spent * 100n >= limit * BigInt(percent))
  for (const percent of passed) tellPercentage(unit, account, window, percent)
}

/**
 * Writes the event of 100 % for a cap whose rest was too little for a run that was refused.
 */
export function alertCapUsedUp(unit: UnitOfWork, account: string, window: WindowRow): void {
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

/** A movement of money: the change, and the balance after it. */
type Movement = { change: Nusd; balance: Nusd; at: Millis }

/** Whether a movement may need an event; most charges do not. */
export const concernsBalance = (account: AccountRow, change: Nusd, balance: Nusd): boolean =>
  change > 0n ? account.exhaustedAt !== null : balance === 0n || account.lowBalance !== null

/** Writes an event when a balance falls below its threshold or to zero; new money re-arms it. */
export function alertBalance(
  rows: EventRows,
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

function endExhaustion({ written }: EventRows, account: AccountRow): void {
  account.exhaustedAt = null
  written.alerts.add(account)
}

/** The event of a balance of zero, or of one too low for a run that was refused. */
export const exhausted = (account: string, balance: Nusd, required?: Nusd): NewEvent => ({
  type: 'balance.exhausted',
  account,
  subject: account,
  data: {
    balance_nusd: toJsonInteger(balance),
    required_nusd: required === undefined ? null : toJsonInteger(required),
  },
})
