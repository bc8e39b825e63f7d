/** Counts the asks of keyless clients per day. */

import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { hmacSha256 } from '../../kernel/hash.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'
import { windowEnd, windowStart } from '../../ledger/window.ts'

/** The asks a client has left today, and the beginning of the next day (UTC). */
export type Allowance = { remaining: number; resets_at: string }

/** A counted ask, which can be returned. */
export type AllowanceUse = { day: Millis; client: string; allowance: Allowance }

type Needs = Pick<Deps, 'clock' | 'settings' | 'signer' | 'terminal'>

/** Days (UTC) of counts kept: today, and yesterday for a node whose clock is behind. */
const keptDays = 2
const dayMs = 86_400_000

/** The allowance left today; `network` identifies the client. */
export async function allowanceOf(deps: Needs, network: string): Promise<Allowance> {
  const now = deps.clock.now()
  const used = await deps.terminal.used(windowStart('day', now), clientOf(deps, network))
  return leftOf(deps, used, now)
}

/**
 * Counts one ask before anything runs.
 * @throws Refusal `rate_limited` with the reset time if today's asks are used up, `unavailable` if
 * asking is off
 */
export async function takeAsk(deps: Needs, network: string): Promise<AllowanceUse> {
  const { asksPerDay } = deps.settings.terminal
  if (asksPerDay === 0) refuse('unavailable', 'Asking is turned off on this server.')
  const now = deps.clock.now()
  const day = windowStart('day', now)
  const client = clientOf(deps, network)
  const used = await deps.terminal.take(day, client, asksPerDay)
  if (used === undefined) refuseMore(asksPerDay, now)
  return { day, client, allowance: leftOf(deps, used, now) }
}

/** Returns an ask that was refused or failed. */
export const giveBack = ({ terminal }: Needs, { day, client }: AllowanceUse): Promise<void> =>
  terminal.giveBack(day, client)

/** Deletes the counts of past days. */
export const dropAllowances = ({ terminal, clock }: Needs): Promise<void> =>
  terminal.dropBefore(windowStart('day', clock.now()) - (keptDays - 1) * dayMs)

/** The beginning of the next day (UTC). */
export const nextDay = (now: Millis): Millis => windowEnd('day', now) ?? now

/** Retry headers until the next day, in whole seconds and in ms. */
export const untilNextDay = (now: Millis): Record<string, string> =>
  retryHeaders(nextDay(now) - now)

const leftOf = ({ settings }: Needs, used: number, now: Millis): Allowance => ({
  remaining: Math.max(0, settings.terminal.asksPerDay - used),
  resets_at: toRfc3339(nextDay(now)),
})

function refuseMore(most: number, now: Millis): never {
  const resetsAt = toRfc3339(nextDay(now))
  refuse('rate_limited', {
    message:
      `Your network has used its ${most} asks of today. You can ask again at ${resetsAt}; ` +
      'with your own key this limit does not apply.',
    metadata: { remaining: 0, resets_at: resetsAt },
    headers: untilNextDay(now),
  })
}

/**
 * The stored form of a network. The HMAC key derives from the signer's, which every node has and
 * the database does not, so a reader of the table cannot try out all addresses.
 */
function clientOf({ signer }: Needs, network: string): string {
  return toHex(hmacSha256(signer.derive('counterfoil terminal clients v1'), network))
}
