/** Counts requests and failures of an upstream. */
import { onEnd } from './ends.ts'
import type { FailureReason } from './upstream.ts'
import { type Upstream, type UpstreamCall, UpstreamFailure } from './upstream.ts'

/** Who counts what upstreams do. */
export type Meter = {
  upstreamAsked(id: string): void
  /** The first of its answer came. */
  upstreamAnswered(id: string, seconds: number): void
  upstreamFailed(id: string, reason: FailureReason): void
}

/** An upstream whose requests are counted; a stop by our own caller is not a failure. */
export function meteredUpstream(
  upstream: Upstream,
  { meters, clock }: { meters: Meter; clock: { monotonic(): number } },
): Upstream {
  const { id } = upstream
  const count = (error: unknown): void => {
    const reason = error instanceof UpstreamFailure ? error.reason : 'error'
    if (reason !== 'aborted') meters.upstreamFailed(id, reason)
  }
  const measured = async <T>(ask: (call: UpstreamCall) => Promise<T>, call: UpstreamCall) => {
    const startedAt = clock.monotonic()
    meters.upstreamAsked(id)
    try {
      const answer = await ask(call)
      meters.upstreamAnswered(id, (clock.monotonic() - startedAt) / 1000)
      return answer
    } catch (error) {
      count(error)
      throw error
    }
  }
  return {
    ...upstream,
    complete: (call) => measured(upstream.complete, call),
    stream: async (call) =>
      onEnd(await measured(upstream.stream, call), (end) => {
        if (end.how === 'failed') count(end.error)
      }),
  }
}
