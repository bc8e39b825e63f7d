/** An upstream as runs use it: counted, with a limited number of places, behind a breaker. */
import { type Breaker, type Pass, verdictOf } from './breaker.ts'
import { type End, onEnd } from './ends.ts'
import type { Release, Slots } from './slots.ts'
import {
  type FailureReason,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from './upstream.ts'

/** Who counts what upstreams do. */
export type Meter = {
  upstreamAsked(id: string): void
  /** The first of its answer came. */
  upstreamAnswered(id: string, seconds: number): void
  upstreamFailed(id: string, reason: FailureReason): void
}

type Rules = {
  meters: Meter
  clock: { monotonic(): number }
  /** A request holds one from before its first byte goes out until its answer ends in any way. */
  slots?: Slots
  /** While it is open, requests are refused with the reason `open`. */
  breaker?: Breaker | undefined
}

/** The same upstream under these rules. */
export function servedUpstream(upstream: Upstream, rules: Rules): Upstream {
  const { id, protocol, countTokens, evidence } = upstream
  const { slots, breaker } = rules
  return {
    id,
    protocol,
    async complete(call) {
      const turn = new Turn(id, rules, call.account)
      try {
        const waits = turn.takePlace(call)
        if (waits) await waits
        const answer = await upstream.complete(call)
        turn.note()
        turn.end({ how: 'whole' })
        return answer
      } catch (error) {
        turn.end({ how: 'failed', error })
        throw error
      }
    },
    async stream(call) {
      const turn = new Turn(id, rules, call.account)
      try {
        const waits = turn.takePlace(call)
        if (waits) await waits
        const chunks = await upstream.stream(call)
        turn.note()
        turn.pass?.began()
        return onEnd(chunks, (end) => turn.end(end))
      } catch (error) {
        turn.end({ how: 'failed', error })
        throw error
      }
    },
    ...(countTokens && {
      countTokens: async (call) =>
        // One that rests is left alone.
        breaker && breaker.state !== 'closed' ? undefined : countTokens(call),
    }),
    evidence,
    ...(slots && {
      load: () => ({ taken: slots.taken, waiting: slots.waiting, most: slots.most }),
    }),
    ...(breaker && {
      breaker: (account) => ({ state: breaker.state, retryAfterMs: breaker.retryAfterMs(account) }),
    }),
  }
}

/** One request from its start to its end. */
class Turn {
  readonly pass: Pass | undefined
  private readonly startedAt: number
  private release: Release | undefined

  /** @throws UpstreamFailure `open`, which counts as no request */
  constructor(
    private readonly id: string,
    private readonly rules: Rules,
    account: string,
  ) {
    const { breaker, clock, meters } = rules
    this.pass = breaker?.take(account)
    if (breaker && !this.pass) {
      throw new UpstreamFailure('open', undefined, breaker.retryAfterMs(account))
    }
    this.startedAt = clock.monotonic()
    meters.upstreamAsked(id)
  }

  /** Gives a promise only where there is none yet. */
  takePlace({ account, signal }: UpstreamCall): Promise<void> | void {
    const keep = (release: Release | undefined): void => {
      this.release = release
    }
    const place = this.rules.slots?.take(account, signal)
    return place instanceof Promise ? place.then(keep) : keep(place)
  }

  /** The first of its answer came. */
  note(): void {
    const { clock, meters } = this.rules
    meters.upstreamAnswered(this.id, (clock.monotonic() - this.startedAt) / 1000)
  }

  end(end: End): void {
    this.release?.()
    // Only its end says that an answer was whole.
    if (end.how !== 'failed') this.pass?.end(end.how === 'whole' ? 'answered' : 'left')
    else this.fail(end.error)
  }

  /** A stop by our own caller is not a failure. */
  private fail(error: unknown): void {
    const failure = error instanceof UpstreamFailure ? error : undefined
    const reason = failure?.reason ?? 'error'
    if (reason !== 'aborted') this.rules.meters.upstreamFailed(this.id, reason)
    this.pass?.end(failure ? verdictOf(failure) : 'left')
  }
}
