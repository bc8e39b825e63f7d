import type { FailureReason } from './upstream.ts'
import { type JsonObject, type Upstream, type UpstreamCall, UpstreamFailure } from './upstream.ts'

/** Who counts what upstreams do. */
export type Meter = {
  upstreamAsked(id: string): void
  /** The first of its answer came. */
  upstreamAnswered(id: string, seconds: number): void
  upstreamFailed(id: string, reason: FailureReason): void
}

/** An upstream whose requests are counted; what our own caller stopped is no failure of it. */
export function meteredUpstream(
  upstream: Upstream,
  { meters, clock }: { meters: Meter; clock: { monotonic(): number } },
): Upstream {
  const { id } = upstream
  const failed = (error: unknown): never => {
    const reason = error instanceof UpstreamFailure ? error.reason : 'error'
    if (reason !== 'aborted') meters.upstreamFailed(id, reason)
    throw error
  }
  const measured = async <T>(ask: (call: UpstreamCall) => Promise<T>, call: UpstreamCall) => {
    const startedAt = clock.monotonic()
    meters.upstreamAsked(id)
    const answer = await ask(call).catch(failed)
    meters.upstreamAnswered(id, (clock.monotonic() - startedAt) / 1000)
    return answer
  }
  return {
    ...upstream,
    complete: (call) => measured(upstream.complete, call),
    stream: async (call) => watched(await measured(upstream.stream, call), failed),
  }
}

/** The same chunks; a failure between them is told too. */
function watched(
  chunks: AsyncIterable<JsonObject[]>,
  failed: (error: unknown) => never,
): AsyncIterableIterator<JsonObject[]> {
  const inner = chunks[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => inner.next().catch(failed),
    async return() {
      await inner.return?.()
      return { done: true, value: undefined }
    },
  }
}
