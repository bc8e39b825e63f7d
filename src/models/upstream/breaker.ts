/** The circuit breaker of an upstream: pauses requests to one that is down. */
import type { Clock } from '../../kernel/clock.ts'
import { mostAccounts, type RecentAccounts, recentAccounts } from './breaker-accounts.ts'
import type { BreakerState, UpstreamFailure } from './upstream.ts'

export type BreakerRules = {
  /** Failures in a row that may open it; at least 1. */
  failures: number
  /** How long it then stays open, in ms. */
  cooldownMs: number
}

/** `left`: nothing was learned, as the upstream was not asked or the client hung up. */
export type Verdict = 'answered' | 'failed' | 'left'

/** Passes of an open breaker are probes: a fresh one is of an account that did not fail. */
type Probe = 'none' | 'refused' | 'fresh'

/** The state of a request here, in the one object that the request has. */
export type Pass = {
  readonly account: string
  probe: Probe
  /** The turn of the circuit; undefined before it passed and after its verdict. */
  turn: number | undefined
  /** The count of suspends when it began. */
  suspends: number
}

/** The value of {@link Breaker.retryAfterMs} while a probe is on its way, in ms. */
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
export class Breaker {
  private readonly recent: RecentAccounts
  private failures = 0
  private openUntil: number | undefined
  /** The accounts that failed while it is open. They wait for the cooldown. */
  private readonly refused = new Set<string>()
  private isProbing = false
  private freshProbes = 0
  /** The count of suspends when one excused a failure, until something is answered. */
  private excusedAt = Number.POSITIVE_INFINITY
  /** Rises when it opens and when it closes: a pass of an earlier turn has no say. */
  private turn = 0

  constructor(
    private readonly rules: BreakerRules,
    private readonly deps: { clock: Pick<Clock, 'monotonic'>; suspends: () => number },
    private readonly tell: (state: 'open' | 'closed') => void,
  ) {
    this.recent = recentAccounts(deps.clock)
  }

  /** Whether a request may pass. If so, tell how it ends: only its first verdict counts. */
  admit(pass: Pass): boolean {
    const { account } = pass
    this.recent.note(account, 'asked')
    if (this.openUntil === undefined) pass.probe = 'none'
    else if (this.isFresh(account)) {
      if (this.freshProbes >= this.rules.failures) return false
      this.freshProbes++
      pass.probe = 'fresh'
    } else {
      if (this.isProbing || this.deps.clock.monotonic() < this.openUntil) return false
      this.isProbing = true
      pass.probe = 'refused'
    }
    pass.turn = this.turn
    pass.suspends = this.deps.suspends()
    return true
  }

  get state(): BreakerState {
    if (this.openUntil === undefined) return 'closed'
    return this.deps.clock.monotonic() < this.openUntil ? 'open' : 'half_open'
  }

  /** The time until a request of this account, or of one that failed, may pass, in ms; or 0. */
  retryAfterMs(account?: string): number {
    if (this.openUntil === undefined) return 0
    if (this.isFresh(account)) return this.freshProbes < this.rules.failures ? 0 : probeRetryMs
    if (this.isProbing) return probeRetryMs
    return Math.max(0, this.openUntil - this.deps.clock.monotonic())
  }

  /** The first of an answer came: closes an open breaker, but one more failure may reopen it. */
  began(pass: Pass): void {
    if (pass.turn !== this.turn || pass.probe === 'none') return
    this.close(this.rules.failures - 1)
    pass.turn = this.turn
    pass.probe = 'none'
  }

  end(pass: Pass, verdict: Verdict): void {
    if (pass.turn !== this.turn) return
    pass.turn = undefined
    if (verdict === 'answered') {
      this.recent.note(pass.account, 'answered')
      this.excusedAt = Number.POSITIVE_INFINITY
      this.close(0)
    } else if (verdict === 'failed' && !this.isExcused(pass)) this.fail(pass)
    else if (pass.probe === 'refused') this.isProbing = false
    else if (pass.probe === 'fresh') this.freshProbes--
  }

  private isExcused({ suspends }: Pass): boolean {
    const now = this.deps.suspends()
    if (now === suspends || suspends >= this.excusedAt) return false
    this.excusedAt = now
    return true
  }

  private fail({ account, probe }: Pass): void {
    const { failures: most } = this.rules
    this.recent.note(account, 'failed')
    if (probe === 'fresh') {
      this.freshProbes--
      this.refused.add(account)
    } else if (probe === 'refused') this.open()
    else {
      this.failures = Math.min(this.failures + 1, most)
      if (this.failures === most && this.mayOpen()) this.open()
    }
  }

  private close(remaining: number): void {
    this.failures = remaining
    if (this.openUntil === undefined) return
    this.openUntil = undefined
    this.refused.clear()
    this.isProbing = false
    this.freshProbes = 0
    this.turn++
    this.tell('closed')
  }

  private open(): void {
    // Probes that are on their way stay what they are if it was open before.
    if (this.openUntil === undefined) this.turn++
    this.openUntil = this.deps.clock.monotonic() + this.rules.cooldownMs
    this.isProbing = false
    for (const account of this.recent.failing()) this.refused.add(account)
    this.tell('open')
  }

  private mayOpen(): boolean {
    const { failures: most } = this.rules
    const { asked, answered, failed } = this.recent.counts()
    if (answered === 0) return failed > 1 || asked === 0
    return failed >= most && failed > asked + answered
  }

  private isFresh(account: string | undefined): boolean {
    return account !== undefined && !this.refused.has(account) && this.refused.size < mostAccounts
  }
}

/**
 * Judges the server by a failed request. An answer that refuses the request, or asks for fewer
 * of them, comes from one that works; what this side gave up or kept back says nothing.
 */
export function verdictOf({ reason, status }: UpstreamFailure): Verdict {
  if (reason === 'unreachable' || reason === 'timeout' || reason === 'cut') return 'failed'
  // Without a status no key was left to ask by.
  if ((reason === 'denied' || reason === 'limited') && status === undefined) return 'left'
  if (['rejected', 'denied', 'limited', 'context', 'too_large'].includes(reason)) return 'answered'
  if (reason !== 'error' && reason !== 'busy') return 'left'
  if (status !== undefined) return status >= 500 ? 'failed' : 'answered'
  return reason === 'error' ? 'failed' : 'left'
}
