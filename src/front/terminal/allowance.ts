import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { hmacSha256 } from '../../kernel/hash.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import { windowEnd, windowStart } from '../../ledger/window.ts'

/** How many asks a client has left today, and when the next day begins. */
export type Allowance = { remaining: number; resets_at: string }

/** What a client took and may give back. */
export type Taken = { day: Millis; client: string; allowance: Allowance }

type Needs = Pick<Deps, 'clock' | 'settings' | 'signer' | 'terminal'>

/** Days (UTC) of asks that are kept: today's, and yesterday's for a node whose clock is late. */
const keptDays = 2
const dayMs = 86_400_000

/** What a client may still ask today; `network` is what it is counted under. */
export async function allowanceOf(deps: Needs, network: string): Promise<Allowance> {
  const now = deps.clock.now()
  const used = await deps.terminal.used(windowStart('day', now), clientOf(deps, network))
  return leftOf(deps, used, now)
}

/**
 * Takes one of the asks of a client, before anything runs.
 * @throws Refusal `rate_limited` with the time of the next when today's are used up, `unavailable`
 * where there are none.
 */
export async function takeAsk(deps: Needs, network: string): Promise<Taken> {
  const { asksPerDay } = deps.settings.terminal
  if (asksPerDay === 0) refuse('unavailable', 'The operator of this server turned asking off.')
  const now = deps.clock.now()
  const day = windowStart('day', now)
  const client = clientOf(deps, network)
  const used = await deps.terminal.take(day, client, asksPerDay)
  if (used === undefined) refuseMore(asksPerDay, now)
  return { day, client, allowance: leftOf(deps, used, now) }
}

/** Gives back an ask that was refused, or that nothing came of; says what is left then. */
export const giveBack = ({ terminal }: Needs, { day, client }: Taken): Promise<void> =>
  terminal.giveBack(day, client)

/** Forgets who asked on days that are over. */
export const dropAllowances = ({ terminal, clock }: Needs): Promise<void> =>
  terminal.dropBefore(windowStart('day', clock.now()) - (keptDays - 1) * dayMs)

/** When the next day begins. */
export const nextDay = (now: Millis): Millis => windowEnd('day', now) ?? now

/** Headers of a refusal that holds until the next day: in whole seconds, and in ms. */
export function untilNextDay(now: Millis): Record<string, string> {
  const ms = nextDay(now) - now
  return { 'retry-after': String(Math.ceil(ms / 1000)), 'retry-after-ms': String(ms) }
}

const leftOf = ({ settings }: Needs, used: number, now: Millis): Allowance => ({
  remaining: Math.max(0, settings.terminal.asksPerDay - used),
  resets_at: toRfc3339(nextDay(now)),
})

function refuseMore(most: number, now: Millis): never {
  const resetsAt = toRfc3339(nextDay(now))
  refuse('rate_limited', {
    message:
      `The ${most} asks a day of your network are used up. The next can be made at ${resetsAt}; ` +
      'with a key of your own there is no such limit.',
    metadata: { remaining: 0, resets_at: resetsAt },
    headers: untilNextDay(now),
  })
}

/**
 * What a network is stored as. The key follows from the signer's, which every node has and the
 * database has not: whoever reads the table cannot try out all addresses.
 */
function clientOf({ signer }: Needs, network: string): string {
  return toHex(hmacSha256(signer.derive('counterfoil terminal clients v1'), network))
}
