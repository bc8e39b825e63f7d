/** The circuit breaker of an upstream: pauses requests to one that is down. */
import type { Clock } from '../../kernel/clock.ts'
import { mostAccounts, recentAccounts } from './breaker-accounts.ts'
import type { BreakerState, UpstreamFailure } from './upstream.ts'

export type BreakerRules = {
  /** Failures in a row that may open it; at least 1. */
  failures: number
  /** How long it then stays open, in ms. */
  cooldownMs: number
}

/** The way through for one request. Only its first verdict counts. */
export type Pass = {
  /** The first of an answer came: closes an open breaker, but one more failure may reopen it. */
  began(): void
  answered(): void
  failed(): void
  /** Nothing was learned: the upstream was not asked, or the client hung up. */
  left(): void
}

export type Breaker = {
  /** For a request of this account; undefined while it may not pass. */
  take(account: string): Pass | undefined
  readonly state: BreakerState
  /** Until a request of this account (or of one that failed) may pass, in ms; 0 for now. */
  retryAfterMs(account?: string): number
}

/** What {@link Breaker.retryAfterMs} is while a probe is on its way, in ms. */
const probeRetryMs = 1000

/**
 * Stops requests to an upstream that is down, without letting a few accounts whose requests fail
 * stop those of others.
 *
 * It opens when `failures` requests in a row failed, whichever account they were of, and one of
 * these holds for the accounts that asked in the last 30 s:
 * - none was answered last, and more than one failed or no other asked; or
 * - more than half failed last, and these are `failures` accounts or more.
 *
 * So an answer to one account keeps it closed for 30 s unless most accounts fail. While it is open,
 * accounts that did not fail before still pass, up to `failures` of them at once: an answer to any
 * of them closes it, and each one that fails is refused like the others. After `cooldownMs` one
 * request at a time of the refused accounts passes too; if that fails it opens again.
 *
 * Verdicts on requests that began before it last opened or closed do not count. Neither do
 * failures during which this process slept, by the count of `suspends`: all timeouts run out then.
 * Among requests that began after such a failure another nap excuses none until something was
 * answered, or a machine that sleeps again and again would never find out. At most
 * {@link mostAccounts} accounts are remembered. `tell` hears when it opens and closes.
 */
export function makeBreaker(
  { failures: most, cooldownMs }: BreakerRules,
  { clock, suspends }: { clock: Pick<Clock, 'monotonic'>; suspends: () => number },
  tell: (state: 'open' | 'closed') => void,
): Breaker {
  const recent = recentAccounts(clock)
  let failures = 0
  let openUntil: number | undefined
  /** While it is open: the accounts that failed. They wait for the cooldown. */
  const refused = new Set<string>()
  let isProbing = false
  let freshProbes = 0
  /** The count of suspends when one excused a failure, until something is answered. */
  let excusedAt = Number.POSITIVE_INFINITY
  /** Rises when it opens and when it closes: a pass of an earlier turn has no say. */
  let turn = 0

  const close = (remaining: number): void => {
    failures = remaining
    if (openUntil === undefined) return
    openUntil = undefined
    refused.clear()
    isProbing = false
    freshProbes = 0
    turn++
    tell('closed')
  }
  const open = (): void => {
    // Probes that are on their way stay what they are if it was open before.
    if (openUntil === undefined) turn++
    openUntil = clock.monotonic() + cooldownMs
    isProbing = false
    for (const account of recent.failing()) refused.add(account)
    tell('open')
  }
  const mayOpen = (): boolean => {
    const { asked, answered, failed } = recent.counts()
    if (answered === 0) return failed > 1 || asked === 0
    return failed >= most && failed > asked + answered
  }
  const isFresh = (account: string | undefined): boolean =>
    account !== undefined && !refused.has(account) && refused.size < mostAccounts
  /** Passes of an open breaker: a fresh one is of an account that did not fail. */
  type Probe = 'none' | 'refused' | 'fresh'

  const fail = (account: string, probe: Probe): void => {
    recent.note(account, 'failed')
    if (probe === 'fresh') {
      freshProbes--
      refused.add(account)
    } else if (probe === 'refused') open()
    else {
      failures = Math.min(failures + 1, most)
      if (failures === most && mayOpen()) open()
    }
  }
  const passOf = (account: string, probe: Probe): Pass => {
    const before = suspends()
    let own = turn
    let kind = probe
    const once = (work: () => void) => () => {
      if (own !== turn) return
      own = Number.NaN
      work()
    }
    const leave = (): void => {
      if (kind === 'refused') isProbing = false
      else if (kind === 'fresh') freshProbes--
    }
    return {
      began() {
        if (own !== turn || kind === 'none') return
        close(most - 1)
        own = turn
        kind = 'none'
      },
      answered: once(() => {
        recent.note(account, 'answered')
        excusedAt = Number.POSITIVE_INFINITY
        close(0)
      }),
      failed: once(() => {
        const after = suspends()
        if (after === before || before >= excusedAt) return fail(account, kind)
        excusedAt = after
        leave()
      }),
      left: once(leave),
    }
  }

  return {
    take(account) {
      recent.note(account, 'asked')
      if (openUntil === undefined) return passOf(account, 'none')
      if (isFresh(account)) {
        if (freshProbes >= most) return undefined
        freshProbes++
        return passOf(account, 'fresh')
      }
      if (isProbing || clock.monotonic() < openUntil) return undefined
      isProbing = true
      return passOf(account, 'refused')
    },
    get state() {
      if (openUntil === undefined) return 'closed'
      return clock.monotonic() < openUntil ? 'open' : 'half_open'
    },
    retryAfterMs(account) {
      if (openUntil === undefined) return 0
      if (isFresh(account)) return freshProbes < most ? 0 : probeRetryMs
      return isProbing ? probeRetryMs : Math.max(0, openUntil - clock.monotonic())
    },
  }
}

/**
 * What a failed request says of the server. An answer that refuses the request, or asks for fewer
 * of them, comes from one that works; what this side gave up or kept back says nothing.
 */
export function verdictOf({ reason, status }: UpstreamFailure): 'answered' | 'failed' | 'left' {
  if (reason === 'unreachable' || reason === 'timeout' || reason === 'cut') return 'failed'
  if (reason === 'rejected' || reason === 'too_large') return 'answered'
  if (reason !== 'error' && reason !== 'busy') return 'left'
  if (status !== undefined) return status >= 500 ? 'failed' : 'answered'
  return reason === 'error' ? 'failed' : 'left'
}
