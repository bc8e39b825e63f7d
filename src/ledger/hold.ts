/** The rules of money: what a hold needs, how a run is charged, how a grant arrives. */
import { type Millis, timeOrNull } from '../kernel/clock.ts'
import { max, maxNusd, min, type Nusd, toJsonInteger, toUsd } from '../kernel/money.ts'
import { type RefusalDetail, refuse } from '../kernel/refusal.ts'
import { notAStatus } from '../kernel/status-safe.ts'
import type { AccountRow, HoldWindow, KeyRow, WindowRow } from '../storage/db/schema/schema.ts'
import { type BrakeSpan, brakesOf, endOf, hasBrake, isBrakeWindow, isMostlySpent } from './brake.ts'
import { toldHeld } from './purse.ts'
import { alertCap, passesNext } from './spend-alerts.ts'
import type { OpenRun, UnitOfWork } from './unit-of-work.ts'
import { windowEnd } from './window.ts'

/**
 * How much a key's window or the account can still spend. Every rule below checks before it
 * changes; `balance ≥ held ≥ 0` and `spent + held ≤ limit` always hold.
 */
export type Room = {
  available: Nusd
  limitedBy: 'key' | 'ancestor' | 'balance' | 'max_cost_per_run'
  keyId?: string
}

/** The rooms of a key chain, in order: the key, its ancestors, the balance. */
export function roomsOf(unit: UnitOfWork, accountId: string, chain: readonly KeyRow[]): Room[] {
  const rooms: Room[] = chain.map((key, depth) => {
    const { spent, held } = unit.window(key)
    const limitedBy = depth === 0 ? 'key' : 'ancestor'
    return { available: key.capLimit - spent - held, limitedBy, keyId: key.id }
  })
  const account = unit.account(accountId)
  const available = account ? account.balance - account.held : 0n
  return [...rooms, { available, limitedBy: 'balance' }]
}

/**
 * The most a run of this chain may hold now: the least of all rooms, per-run limits and what the
 * brakes leave.
 */
export function mostFor(unit: UnitOfWork, accountId: string, chain: readonly KeyRow[]): Nusd {
  const rooms = roomsOf(unit, accountId, chain).map(({ available }) => available)
  const mosts = chain.flatMap(({ maxCostPerRun }) => maxCostPerRun ?? [])
  const brakes = chain.filter(hasBrake).flatMap((key) => brakeRoomsOf(unit, key))
  return [...rooms, ...mosts, ...brakes.map(({ available }) => available)].reduce(min, maxNusd)
}

/** The rest that the brakes of a key leave of this minute and this hour. */
const brakeRoomsOf = (unit: UnitOfWork, key: KeyRow) =>
  brakesOf(key, unit.now).map((brake) => {
    const window = unit.brakeWindow(key, brake)
    return { brake, window, available: brake.limit - window.spent - window.held }
  })

/** A brake that a hold would pass. */
export type Passed = {
  key: KeyRow
  /** Whether that is the key which asks, not one above it. */
  isOwn: boolean
  span: BrakeSpan
  /** When this minute or hour began, as its window names it. */
  start: Millis
  /** The most of a minute or an hour. */
  limit: Nusd
  required: Nusd
  available: Nusd
  /** Whether the run alone would pass it, so that no wait helps. */
  isAlone: boolean
  /** Whether spent money is in the way, and not only what runs hold that may cost less. */
  isSpent: boolean
  /** When there may be room again, in ms from now. */
  waitMs: number
}

/** The wait before a hold that only other holds are in the way of may be tried again, in ms. */
const heldMs = 5000

const refusePassed = (): never => refuse('key_paused')

/** The first brake of the chain that a hold would pass, the key's own before its ancestors'. */
function passedBrake(
  unit: UnitOfWork,
  chain: readonly KeyRow[],
  required: Nusd,
): Passed | undefined {
  for (const [depth, key] of chain.entries()) {
    if (!hasBrake(key)) continue
    const passed = brakeRoomsOf(unit, key)
      .filter(({ available }) => available < required)
      .map(({ brake, available, window }): Passed => {
        const isFull = window.spent + required > brake.limit
        const leftMs = endOf(brake) - unit.now
        return {
          ...brake,
          key,
          isOwn: depth === 0,
          required,
          available,
          isAlone: required > brake.limit,
          isSpent: isFull && isMostlySpent(brake, window),
          waitMs: isFull ? leftMs : Math.min(heldMs, leftMs),
        }
      })
    // What no wait helps against comes first.
    const one = passed.find(({ isAlone }) => isAlone) ?? passed.find(({ isSpent }) => isSpent)
    if (passed.length > 0) return one ?? passed[0]
  }
  return undefined
}

/** Why a hold is refused: the purse that lacks the money, and what is in it. */
export type Shortage = {
  required: Nusd
  room: Room
  /** The key of the purse; undefined for the balance. */
  key: KeyRow | undefined
  /** Whether that is the key which asks, not one above it. */
  isOwn: boolean
  /**
   * The part of the purse that open runs hold, as far as the key may know ({@link toldHeld}); 0 for
   * a limit of a single run.
   */
  held: Nusd
  resetsAt: Millis | null
  /** The most that a run could hold now, as {@link mostFor} has it. */
  most: Nusd
  /** Whether there is room as soon as runs of the key itself end. */
  isOnlyHeld: boolean
}

/**
 * Reserves `amount` on the key, every ancestor, their brakes and the account; returns the windows
 * it was taken from. `explain` gives a refusal its words and adds to its metadata; `refuseRate`
 * throws for a brake that it would pass. That is asked last: a hold which a cap refuses spends
 * nothing, so it must not pause a key above.
 * @throws Refusal `cap_exceeded` or `insufficient_balance`, before any change.
 */
export function takeHold(
  unit: UnitOfWork,
  chain: readonly KeyRow[],
  amount: Nusd,
  explain: (shortage: Shortage) => RefusalDetail,
  refuseRate: (passed: Passed) => never = refusePassed,
): HoldWindow[] {
  const accountId = chain[0]?.accountId ?? ''
  const account = unit.account(accountId)
  if (!account) throw new Error('a key without an account')
  if (!hasRoom(unit, account, chain, amount)) {
    refuseHold(firstShortage(unit, chain, amount), explain)
  }
  const passed = passedBrake(unit, chain, amount)
  if (passed) refuseRate(passed)
  account.held += amount
  unit.changed('account', account)
  const taken = chain.map((key) => takeFrom(unit, unit.window(key), amount, key.capLimit))
  for (const key of chain) {
    if (!hasBrake(key)) continue
    for (const { brake, window } of brakeRoomsOf(unit, key)) {
      taken.push(takeFrom(unit, window, amount, brake.limit))
    }
  }
  return taken
}

function takeFrom(unit: UnitOfWork, window: WindowRow, amount: Nusd, limit: Nusd): HoldWindow {
  window.held += amount
  // A node whose clock is in another window may have changed the cap.
  window.limit = limit
  unit.changed('window', window)
  return [window.keyId, window.windowStart]
}

/** Whether every room of {@link roomsOf} and every limit of a single run has this amount. */
function hasRoom(
  unit: UnitOfWork,
  { balance, held }: AccountRow,
  chain: readonly KeyRow[],
  amount: Nusd,
): boolean {
  if (balance - held < amount) return false
  for (const key of chain) {
    const window = unit.window(key)
    if (key.capLimit - window.spent - window.held < amount) return false
    if (key.maxCostPerRun !== null && key.maxCostPerRun < amount) return false
  }
  return true
}

/** Finds what has no room; limits of a single run come before purses. */
function firstShortage(unit: UnitOfWork, chain: readonly KeyRow[], amount: Nusd): Shortage {
  const rooms = roomsOf(unit, chain[0]?.accountId ?? '', chain)
  const perRun = chain.map(({ id, maxCostPerRun }): Room => {
    return { available: maxCostPerRun ?? maxNusd, limitedBy: 'max_cost_per_run', keyId: id }
  })
  const most = perRun.findIndex(({ available }) => available < amount)
  const from = most === -1 ? rooms : perRun
  const depth = most === -1 ? rooms.findIndex(({ available }) => available < amount) : most
  const room = from[depth]
  if (!room) throw new Error('a hold with room was refused')
  return shortageOf(unit, chain, amount, { room, depth, rooms })
}

function shortageOf(
  unit: UnitOfWork,
  chain: readonly KeyRow[],
  required: Nusd,
  { room, depth, rooms }: { room: Room; depth: number; rooms: readonly Room[] },
): Shortage {
  const accountId = chain[0]?.accountId ?? ''
  const key = chain[depth]
  const isPerRun = room.limitedBy === 'max_cost_per_run'
  const [asking] = chain
  const own = asking ? unit.window(asking).held : 0n
  const purse = key ? unit.window(key).held : (unit.account(accountId)?.held ?? 0n)
  return {
    required,
    room,
    key,
    isOwn: key !== undefined && depth === 0,
    held: isPerRun || !asking ? 0n : toldHeld(asking, { purse, own }),
    // A per-run limit has no window that resets.
    resetsAt: key && !isPerRun ? windowEnd(key.capWindow, unit.now) : null,
    most: mostFor(unit, accountId, chain),
    isOnlyHeld: !isPerRun && rooms.every(({ available }) => available + own >= required),
  }
}

function refuseHold(shortage: Shortage, explain: (of: Shortage) => RefusalDetail): never {
  const { required, room, held, resetsAt } = shortage
  const { metadata, ...words } = explain(shortage)
  refuse(room.limitedBy === 'balance' ? 'insufficient_balance' : 'cap_exceeded', {
    ...words,
    metadata: {
      limited_by: room.limitedBy,
      blocking_key_id: room.keyId ?? null,
      required_nusd: toJsonInteger(required),
      required_usd: notAStatus(toUsd(required)),
      available_nusd: toJsonInteger(room.available),
      available_usd: notAStatus(toUsd(room.available)),
      held_nusd: toJsonInteger(held),
      held_usd: notAStatus(toUsd(held)),
      resets_at: timeOrNull(resetsAt),
      ...metadata,
    },
  })
}

/**
 * Ends a run's hold: charges `cost` to the account, the key and every ancestor, in the windows the
 * hold was taken from, and releases the rest. @throws Error on a cost above the hold: a bug of
 * ours.
 */
export function endHold(unit: UnitOfWork, run: OpenRun, cost: Nusd): void {
  if (run.finishedAt !== null) throw new Error(`run ${run.id} ended twice`)
  if (cost < 0n || cost > run.hold) throw new Error(`run ${run.id} would cost more than it holds`)
  const account = unit.account(run.accountId)
  if (!account) throw new Error(`run ${run.id} has no account`)
  account.held -= run.hold
  account.balance -= cost
  unit.changed('account', account)
  for (const [keyId, start] of run.windows) {
    const window = unit.windowAt(keyId, start)
    window.held -= run.hold
    window.spent += cost
    // Another process may have lowered the cap below what this run already held.
    window.limit = max(window.limit, window.spent + window.held)
    unit.changed('window', window)
    if (cost > 0n && passesNext(window) && !isBrakeWindow(start)) {
      alertCap(unit, run.accountId, window)
    }
  }
  if (cost === 0n) return
  unit.addTransfer({
    accountId: run.accountId,
    ref: run.id,
    kind: 'run',
    source: 'user',
    target: 'revenue',
    amount: cost,
    at: unit.now,
  })
}
