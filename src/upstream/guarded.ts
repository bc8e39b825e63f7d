import { type Breaker, type Pass, verdictOf } from './breaker.ts'
import { onEnd } from './ends.ts'
import { type Upstream, UpstreamFailure } from './upstream.ts'

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
      return onEnd(chunks, (end) => {
        if (end.how === 'failed') note(pass, end.error)
        else if (end.how === 'left') pass.left()
        // Only its end says that the answer was whole.
        else pass.answered()
      })
    },
  }
}

/** Notes what a failure says, and throws it on. */
const noter =
  (pass: Pass) =>
  (error: unknown): never => {
    note(pass, error)
    throw error
  }

const note = (pass: Pass, error: unknown): void =>
  pass[error instanceof UpstreamFailure ? verdictOf(error) : 'left']()
