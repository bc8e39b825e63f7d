import { type Breaker, type Pass, verdictOf } from './breaker.ts'
import { type JsonObject, type Upstream, UpstreamFailure } from './upstream.ts'

/** An upstream that is left alone for a while after it failed several times in a row. */
export function guardedUpstream(upstream: Upstream, breaker: Breaker): Upstream {
  const enter = ({ account }: { account: string }): Pass => {
    const pass = breaker.take(account)
    if (pass) return pass
    throw new UpstreamFailure('open', undefined, breaker.restMs)
  }
  return {
    ...upstream,
    breaker: () => ({ state: breaker.state, restMs: breaker.restMs }),
    async complete(call) {
      const pass = enter(call)
      const answer = await upstream.complete(call).catch(noter(pass))
      pass.answered()
      return answer
    },
    async stream(call) {
      const pass = enter(call)
      const chunks = await upstream.stream(call).catch(noter(pass))
      pass.began()
      return noting(chunks, pass)
    },
  }
}

/** Notes what a failure says, and throws it on. */
const noter =
  (pass: Pass) =>
  (error: unknown): never => {
    pass[error instanceof UpstreamFailure ? verdictOf(error) : 'left']()
    throw error
  }

/** The same chunks; only their end says that the answer was whole. */
function noting(
  chunks: AsyncIterable<JsonObject[]>,
  pass: Pass,
): AsyncIterableIterator<JsonObject[]> {
  const inner = chunks[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      const result = await inner.next().catch(noter(pass))
      if (result.done) pass.answered()
      return result
    },
    async return() {
      pass.left()
      await inner.return?.()
      return { done: true, value: undefined }
    },
  }
}
