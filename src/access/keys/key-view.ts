/** Keys and accounts as `/v1`, the dashboard and the command line show them. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { hasBrake } from '../../ledger/brake.ts'
import { isRoot } from '../../ledger/purse.ts'
import { windowEnd, windowStart } from '../../ledger/window.ts'
import type { AccountRow, KeyRow, WindowRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import type { Plan } from '../plan.ts'
import { type Chain, depthOf, statusOf } from './key.ts'
import { everyLimit } from './key-limits.ts'
import type { KeyAnswer, KeySelfAnswer } from './shapes.ts'
import type { ShownKey } from './shown-key.ts'

/** A key as `/v1`, the dashboard and the command line show it. */
export function toKeyView({ key, chain, window, overlapUntil }: ShownKey, now: Millis): KeyAnswer {
  return {
    id: key.id,
    object: 'key',
    name: key.name,
    fingerprint: key.fingerprint,
    parent_id: key.parentId,
    depth: depthOf(key),
    status: statusOf(chain, now),
    created_at: toRfc3339(key.createdAt),
    expires_at: toRfc3339(key.expiresAt),
    paused_at: timeOrNull(key.pausedAt),
    paused_reason: key.pausedReason,
    revoked_at: timeOrNull(key.revokedAt),
    revoked_by: key.revokedBy,
    last_used_at: timeOrNull(key.lastUsedAt),
    cap: {
      limit_nusd: toJsonInteger(key.capLimit),
      window: key.capWindow,
      spent_nusd: toJsonInteger(window?.spent ?? 0n),
      held_nusd: toJsonInteger(window?.held ?? 0n),
      remaining_nusd: toJsonInteger(remainingOf(key, window)),
      resets_at: timeOrNull(windowEnd(key.capWindow, now)),
    },
    limits: {
      ...Object.fromEntries(
        everyLimit.map(([column, { member, show }]) => {
          const value = key[column]
          return [member, value === null ? null : show(value)]
        }),
      ),
      brake: toBrakeView(key),
    },
    scopes: key.scopes,
    models: key.models,
    ip_cidrs: key.ipCidrs,
    tags: key.tags,
    passport: key.passport === '' ? null : key.passport,
    children_count: key.childrenCount,
    rotation: overlapUntil === null ? null : { overlap_until: toRfc3339(overlapUntil) },
  }
}

const toBrakeView = (key: KeyRow): KeyAnswer['limits']['brake'] =>
  hasBrake(key)
    ? {
        nusd_per_minute: key.brakeMinute === null ? null : toJsonInteger(key.brakeMinute),
        nusd_per_hour: key.brakeHour === null ? null : toJsonInteger(key.brakeHour),
        running: key.brakeRunning ?? 'finish',
      }
    : null

/** The limits on the next run of the caller: each key of the chain, itself first. */
export function toChainView(
  chain: Chain,
  windows: readonly WindowRow[],
  now: Millis,
): KeySelfAnswer['chain'] {
  return chain.map((key, depth) => {
    const window = windowOf(key, windows, now)
    return {
      key_id: key.id,
      limited_by: depth === 0 ? 'key' : 'ancestor',
      limit_nusd: toJsonInteger(key.capLimit),
      remaining_nusd: toJsonInteger(remainingOf(key, window)),
      resets_at: timeOrNull(windowEnd(key.capWindow, now)),
      expires_at: toRfc3339(key.expiresAt),
      status: statusOf(chain.slice(depth), now),
    }
  })
}

/** The account, the chain of a key, itself first, and its windows: they judge its next call. */
export type Standing = { account: AccountRow; chain: Chain; windows: readonly WindowRow[] }

/**
 * The money that a key may know of, as keyed routes show it: its account's where it stands for it,
 * else what it can spend and holds itself.
 */
export function toPurseView(
  { account, chain, windows }: Standing,
  plan: Plan,
  now: Millis,
): KeySelfAnswer['account'] {
  const own = { address: toChecksumAddress(account.id), ...toAccountView(account, plan) }
  const [key] = chain
  if (!key || isRoot(key)) return { ...own, covers: 'account' }
  const left = chain.map((one) => remainingOf(one, windowOf(one, windows, now)))
  const least = [account.balance - account.held, ...left].reduce(lesser)
  const available = least > 0n ? least : 0n
  const held = windowOf(key, windows, now)?.held ?? 0n
  return {
    ...own,
    covers: 'key',
    balance_nusd: toJsonInteger(available + held),
    held_nusd: toJsonInteger(held),
    available_nusd: toJsonInteger(available),
  }
}

/** The money of an account. */
export const toAccountView = (account: AccountRow, plan: Plan) => ({
  balance_nusd: toJsonInteger(account.balance),
  held_nusd: toJsonInteger(account.held),
  available_nusd: toJsonInteger(account.balance - account.held),
  plan: plan.id,
})

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The reason why the next call is refused, now or at the first expiry, and its time. */
export function nextBlock(
  { account, chain, windows }: Standing,
  now: Millis,
): KeySelfAnswer['next_block'] {
  const at = toRfc3339(now)
  if (statusOf(chain, now) === 'paused') return { type: 'key_paused', at }
  const isSpent = chain.some((key) => remainingOf(key, windowOf(key, windows, now)) <= 0n)
  if (isSpent) return { type: 'cap_exceeded', at }
  if (account.balance - account.held <= 0n) return { type: 'insufficient_balance', at }
  const expiresAt = Math.min(...chain.map((key) => key.expiresAt))
  return { type: 'key_expired', at: toRfc3339(expiresAt) }
}

/** The row of the window that contains `now`; none before its first hold. */
export function windowOf(
  key: KeyRow,
  windows: readonly WindowRow[],
  now: Millis,
): WindowRow | undefined {
  const start = windowStart(key.capWindow, now)
  return windows.find((row) => row.keyId === key.id && row.windowStart === start)
}

const remainingOf = (key: KeyRow, window: WindowRow | undefined): bigint =>
  key.capLimit - (window?.spent ?? 0n) - (window?.held ?? 0n)
