/** An upstream behind a circuit breaker. */
import { type Breaker, type Pass, verdictOf } from './breaker.ts'
import { onEnd } from './ends.ts'
import { type Upstream, UpstreamFailure } from './upstream.ts'

/** Refuses requests with the reason `open` while the circuit is open. */
export function guardedUpstream(upstream: Upstream, breaker: Breaker): Upstream {
  const enter = ({ account }: { account: string }): Pass => {
    const pass = breaker.take(account)
    if (pass) return pass
    throw new UpstreamFailure('open', undefined, breaker.retryAfterMs(account))
  }
  return {
    ...upstream,
    breaker: (account) => ({ state: breaker.state, retryAfterMs: breaker.retryAfterMs(account) }),
    async complete(call) {
      const pass = enter(call)
      try {
        const answer = await upstream.complete(call)
        pass.answered()
        return answer
      } catch (error) {
        note(pass, error)
        throw error
      }
    },
    async stream(call) {
      const pass = enter(call)
      try {
        const chunks = await upstream.stream(call)
        pass.began()
        return onEnd(chunks, (end) => {
          if (end.how === 'failed') note(pass, end.error)
          else if (end.how === 'left') pass.left()
          // Only its end says that the answer was whole.
          else pass.answered()
        })
      } catch (error) {
        note(pass, error)
        throw error
      }
    },
  }
}

/** Notes what a failure says. */
const note = (pass: Pass, error: unknown): void =>
  pass[error instanceof UpstreamFailure ? verdictOf(error) : 'left']()
