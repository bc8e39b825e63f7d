/** Rate limits by any name: a client address, a key, a wallet. */
import type { Clock } from '../../kernel/clock.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'

/** A limiter's decision about one request. Times in ms. */
export type Verdict =
  | { ok: true; remaining: number; resetMs: number }
  | { ok: false; remaining: 0; resetMs: number; retryAfterMs: number }

/** Counts requests per key, `perMinute` at once and refilled evenly. */
export type Limiter = {
  /** Takes `cost`, one when absent; a refused one costs nothing. */
  take(key: string, perMinute: number, cost?: number): Verdict
  /** Says what `take` would, and takes nothing. */
  peek(key: string, perMinute: number): Verdict
  readonly size: number
}

const windowMs = 60_000

/**
 * A limiter that remembers at most `maxKeys` keys. It holds one number a key, the time at which its
 * bucket is full again (GCRA), in order of last use. A key whose bucket is full again is forgotten
 * without loss; while none is, new keys share one bucket, so a flood of made-up addresses can
 * neither grow the memory nor wash out what was counted.
 */
export function makeLimiter(clock: Pick<Clock, 'monotonic'>, maxKeys = 100_000): Limiter {
  const fullAt = new Map<string, number>()
  /** The time at which the bucket that all other keys share is full again. */
  let crowdFullAt = Number.NEGATIVE_INFINITY

  /** The key that was used longest ago, if its bucket is full again. */
  function forgettable(now: number): string | undefined {
    const [oldest] = fullAt
    return oldest && oldest[1] <= now ? oldest[0] : undefined
  }

  /** Whether a key has a bucket of its own, or may have one. */
  const isApart = (key: string, now: number): boolean =>
    fullAt.has(key) || fullAt.size < maxKeys || forgettable(now) !== undefined

  function judge(at: number | undefined, perMinute: number, now: number, cost = 1): Verdict {
    const next = nextOf(at, perMinute, now, cost)
    const resetMs = Math.ceil(next - now)
    // The sum of many fractions of a minute is a little off.
    const overMs = next - now - windowMs
    if (overMs > 0.001) return { ok: false, remaining: 0, resetMs, retryAfterMs: Math.ceil(overMs) }
    return { ok: true, remaining: Math.floor((0.001 - overMs) / (windowMs / perMinute)), resetMs }
  }

  function remember(key: string, next: number, now: number): void {
    const oldest = fullAt.delete(key) || fullAt.size < maxKeys ? undefined : forgettable(now)
    if (oldest !== undefined) fullAt.delete(oldest)
    fullAt.set(key, next)
  }

  return {
    take(key, perMinute, cost = 1) {
      const now = clock.monotonic()
      const isOwn = isApart(key, now)
      const at = isOwn ? fullAt.get(key) : crowdFullAt
      const verdict = judge(at, perMinute, now, cost)
      if (!verdict.ok) return verdict
      const next = nextOf(at, perMinute, now, cost)
      if (isOwn) remember(key, next, now)
      else crowdFullAt = next
      return verdict
    },
    peek(key, perMinute) {
      const now = clock.monotonic()
      return judge(isApart(key, now) ? fullAt.get(key) : crowdFullAt, perMinute, now)
    },
    get size() {
      return fullAt.size
    },
  }
}

/** The counts of one service. Its routes share them: a second route does not raise a limit. */
export type Limiters = {
  /** Requests without a key, by network. */
  keyless: Limiter
  /** Requests of a session, by wallet. */
  sessions: Limiter
  /** Requests with an unknown key, by network. */
  keyFailures: Limiter
  /** Requests by key. */
  keyRequests: Limiter
  /** Vouchers that are not there, by account and by network. */
  voucherFailures: Limiter
}

export const makeLimiters = (clock: Pick<Clock, 'monotonic'>): Limiters => ({
  keyless: makeLimiter(clock),
  sessions: makeLimiter(clock),
  keyFailures: makeLimiter(clock),
  keyRequests: makeLimiter(clock),
  voucherFailures: makeLimiter(clock),
})

/** When a bucket is full again of which one more is taken; one that is not known is full now. */
const nextOf = (at: number | undefined, perMinute: number, now: number, cost = 1): number =>
  Math.max(now, at ?? now) + (windowMs / perMinute) * Math.min(cost, perMinute)

/** The 429 of a limiter, with the two headers clients wait by. */
export function tooMany(
  retryAfterMs: number,
  type: 'rate_limited' | 'concurrency_limited',
): Refusal {
  return new Refusal(type, { headers: retryHeaders(retryAfterMs) })
}

/**
 * Counts a failed authentication of one client and refuses it. Good keys never come here, so an
 * address that is over its limit can still use them.
 * @throws Refusal 'invalid_key', or 'rate_limited' above `perMinute`
 */
export function refuseInvalidKey(
  failures: Limiter,
  clientKey: string,
  perMinute: number,
  words?: string,
): never {
  const verdict = failures.take(clientKey, perMinute)
  if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
  refuse('invalid_key', words)
}

/** The state of a key's limit as headers (draft-ietf-httpapi-ratelimit-headers-11). */
export function rateHeaders(perMinute: number, verdict: Verdict): Record<string, string> {
  const seconds = Math.ceil(verdict.resetMs / 1000)
  return {
    'ratelimit-policy': `"minute";q=${perMinute};w=60`,
    ratelimit: `"minute";r=${verdict.remaining};t=${seconds}`,
    'x-ratelimit-limit-requests': String(perMinute),
    'x-ratelimit-remaining-requests': String(verdict.remaining),
    'x-ratelimit-reset-requests': `${seconds}s`,
  }
}
