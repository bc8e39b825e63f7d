import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { clientAddress, rateKey, trustedProxies } from './client-address.ts'
import { makeLimiter, tooMany } from './limits.ts'

type Needs = Pick<Deps, 'clock' | 'settings'>

/**
 * Gives routes marked `isKeyless` their `network`, what a caller without a key is counted under,
 * and lets each make so many requests a minute, before anything of a body is read. All doors of one
 * service share one count, so that nobody gets more by taking another door.
 */
export const keylessGuard = (deps: Needs): ReturnType<typeof makeGuard> => {
  const known = guards.get(deps.settings)
  if (known) return known
  const made = makeGuard(deps)
  guards.set(deps.settings, made)
  return made
}

const guards = new WeakMap<Deps['settings'], ReturnType<typeof makeGuard>>()

const makeGuard = ({ clock, settings }: Needs) => {
  const requests = makeLimiter(clock)
  const isTrusted = trustedProxies(settings.trustedProxies)
  return new Elysia({ name: 'keyless-guard' }).macro({
    isKeyless: {
      resolve: ({ request, server }) => {
        const network = rateKey(clientAddress(request, server, isTrusted))
        const verdict = requests.take(network, settings.keylessPerMinute)
        if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
        return { network }
      },
    },
  })
}
