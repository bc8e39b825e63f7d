/** The rules of money: what a hold needs, how a run is charged, how a grant arrives. */
import { toRfc3339 } from '../kernel/clock.ts'
import { max, maxNusd, min, type Nusd, toJsonInteger } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import type { HoldWindow, KeyRow, RunRow } from '../storage/db/schema.ts'
import type { UnitOfWork } from './unit-of-work.ts'
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

/** The most a run of this chain may hold now: the least of all rooms and per-run limits. */
export function mostFor(unit: UnitOfWork, accountId: string, chain: readonly KeyRow[]): Nusd {
  const rooms = roomsOf(unit, accountId, chain).map(({ available }) => available)
  const mosts = chain.flatMap(({ maxCostPerRun }) => maxCostPerRun ?? [])
  return [...rooms, ...mosts].reduce(min, maxNusd)
}

/**
 * Reserves `amount` on the key, every ancestor and the account; returns the windows it was taken
 * from. `explain` adds to a refusal's metadata what the least room can afford.
 * @throws Refusal `cap_exceeded` or `insufficient_balance`, before any change.
 */
export function takeHold(
  unit: UnitOfWork,
  chain: readonly KeyRow[],
  amount: Nusd,
  explain: (room: Nusd) => Record<string, unknown>,
): HoldWindow[] {
  const accountId = chain[0]?.accountId ?? ''
  const account = unit.account(accountId)
  if (!account) throw new Error('a key without an account')
  const rooms = roomsOf(unit, accountId, chain)
  const least = rooms.reduce((room, other) => min(room, other.available), maxNusd)
  chain.forEach((key, depth) => {
    const most = key.maxCostPerRun
    if (most !== null && amount > most) {
      const room: Room = { available: most, limitedBy: 'max_cost_per_run', keyId: key.id }
      const message = tooMuchForOne(depth === 0 ? 'this key' : `the key ${key.id} above this one`)
      // A per-run limit has no window that resets.
      refuseSpend(unit, room, undefined, amount, explain(min(least, most)), message)
    }
  })
  rooms.forEach((room, depth) => {
    if (room.available < amount) refuseSpend(unit, room, chain[depth], amount, explain(least))
  })
  account.held += amount
  unit.changed('account', account)
  return chain.map((key) => {
    const window = unit.window(key)
    window.held += amount
    // A node whose clock is in another window may have changed the cap.
    window.limit = key.capLimit
    unit.changed('window', window)
    return [key.id, window.windowStart]
  })
}

const tooMuchForOne = (key: string): string =>
  `This run can cost more than ${key} lets a single run cost (limits.max_cost_per_run_nusd). ` +
  'Lower max_tokens or raise that limit. The spending cap is a separate limit.'

function refuseSpend(
  unit: UnitOfWork,
  { available, limitedBy, keyId }: Room,
  key: KeyRow | undefined,
  required: Nusd,
  more: Record<string, unknown>,
  message?: string,
): never {
  const resetsAt = key ? windowEnd(key.capWindow, unit.now) : null
  refuse(limitedBy === 'balance' ? 'insufficient_balance' : 'cap_exceeded', {
    ...(message === undefined ? {} : { message }),
    metadata: {
      limited_by: limitedBy,
      blocking_key_id: keyId ?? null,
      required_nusd: toJsonInteger(required),
      available_nusd: toJsonInteger(available),
      resets_at: resetsAt === null ? null : toRfc3339(resetsAt),
      ...more,
    },
  })
}

/**
 * Ends a run's hold: charges `cost` to the account, the key and every ancestor, in the windows the
 * hold was taken from, and releases the rest. @throws Error on a cost above the hold: a bug of
 * ours.
 */
export function endHold(unit: UnitOfWork, run: RunRow, cost: Nusd): void {
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
