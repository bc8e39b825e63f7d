import type { Clock } from '../kernel/clock.ts'
import type { UpstreamFailure } from './upstream.ts'

export type BreakerRules = {
  /** Failures in a row that open it, of more than one account where several ask; at least 1. */
  failures: number
  /** How long it then stays open, in ms. */
  cooldownMs: number
}

/**
 * `closed`: everybody is let through. `open`: nobody is. `half_open`: it was open for as long as
 * it should be, and one at a time is let through to find out.
 */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** The way through for one request, which says once what came of it. */
export type Pass = {
  /** The first of an answer came: what was open lets others through, but forgives nothing yet. */
  began(): void
  answered(): void
  failed(): void
  /** Nothing was learned: it was not asked in the end, or not listened to. */
  left(): void
}

export type Breaker = {
  /** For a request of this account; undefined when nobody is let through now. */
  take(account: string): Pass | undefined
  readonly state: BreakerState
  /** Until somebody may be let through, in ms; 0 when that is now. */
  readonly restMs: number
}

/** What {@link Breaker.restMs} is while one request finds out, in ms. */
const probeRestMs = 1000

/**
 * Lets nobody through to a server that failed so many times in a row. One account alone, whose
 * requests may be what a server stumbles over, does not close the way of others: while they ask
 * too, one of theirs has to fail as well. What comes of requests that began before it opened counts
 * no more; nor do failures of those during which this side slept, by the count of `naps`: all that
 * waits runs out of time then. Of those that began after such a failure another nap excuses none
 * until something was answered, or a side that sleeps again and again would never find out.
 * `tell` hears when it opens and closes.
 */
export function makeBreaker(
  { failures: most, cooldownMs }: BreakerRules,
  { clock, naps }: { clock: Pick<Clock, 'monotonic'>; naps: () => number },
  tell: (state: 'open' | 'closed') => void,
): Breaker {
  let failures = 0
  /** Whose the failures in a row are. */
  const failing = new Set<string>()
  let lastAccount: string | undefined
  /** When another account asked than the one before. */
  let sharedAt = Number.NEGATIVE_INFINITY
  let openUntil: number | undefined
  let isProbing = false
  /** The count of naps when one excused a failure, until something is answered. */
  let excusedAt = Number.POSITIVE_INFINITY
  /** Rises when it opens and with each probe: a pass of an earlier turn has no say. */
  let turn = 0

  const close = (failed: number): void => {
    failures = failed
    if (failed === 0) {
      failing.clear()
      excusedAt = Number.POSITIVE_INFINITY
    }
    isProbing = false
    if (openUntil === undefined) return
    openUntil = undefined
    tell('closed')
  }
  const fail = (account: string): void => {
    failures++
    failing.add(account)
    if (failures < most) return
    failures = most
    const isShared = clock.monotonic() - sharedAt < cooldownMs
    if (openUntil === undefined && isShared && failing.size === 1) return
    openUntil = clock.monotonic() + cooldownMs
    isProbing = false
    turn++
    tell('open')
  }
  const passOf = (own: number, account: string): Pass => {
    const before = naps()
    const inTurn = (work: () => void) => () => {
      if (own === turn) work()
    }
    const left = inTurn(() => {
      isProbing = false
    })
    return {
      began: inTurn(() => {
        if (openUntil !== undefined) close(most - 1)
      }),
      answered: inTurn(() => close(0)),
      failed: inTurn(() => {
        const after = naps()
        if (after === before || before >= excusedAt) return fail(account)
        excusedAt = after
        left()
      }),
      left,
    }
  }

  return {
    take(account) {
      if (lastAccount !== undefined && lastAccount !== account) sharedAt = clock.monotonic()
      lastAccount = account
      if (openUntil === undefined) return passOf(turn, account)
      if (isProbing || clock.monotonic() < openUntil) return undefined
      isProbing = true
      return passOf(++turn, account)
    },
    get state() {
      if (openUntil === undefined) return 'closed'
      return clock.monotonic() < openUntil ? 'open' : 'half_open'
    },
    get restMs() {
      if (openUntil === undefined) return 0
      return isProbing ? probeRestMs : Math.max(0, openUntil - clock.monotonic())
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
