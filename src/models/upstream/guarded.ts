import { type Breaker, type Pass, verdictOf } from './breaker.ts'
import { onEnd } from './ends.ts'
import { type Upstream, UpstreamFailure } from './upstream.ts'

/** An upstream that is not asked for a while after most accounts' requests to it failed. */
export function guardedUpstream(upstream: Upstream, breaker: Breaker): Upstream {
  const enter = ({ account }: { account: string }): Pass => {
    const pass = breaker.take(account)
    if (pass) return pass
    throw new UpstreamFailure('open', undefined, breaker.restMs(account))
  }
  return {
    ...upstream,
    breaker: (account) => ({ state: breaker.state, restMs: breaker.restMs(account) }),
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
