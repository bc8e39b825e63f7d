/** Limits requests without a key by network. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { clientAddress, rateKey, trustedProxies } from './client-address.ts'
import { tooMany } from './limits.ts'

/**
 * Gives routes marked `isKeyless` their `network`, what a caller without a key is counted under,
 * and lets each make so many requests a minute, before anything of a body is read.
 */
export const keylessGuard = ({ settings, limiters }: Pick<Deps, 'settings' | 'limiters'>) => {
  const isTrusted = trustedProxies(settings.trustedProxies)
  return new Elysia({ name: 'keyless-guard' }).macro({
    isKeyless: {
      resolve: ({ request, server }) => {
        const network = rateKey(clientAddress(request, server, isTrusted))
        const verdict = limiters.keyless.take(network, settings.keylessPerMinute)
        if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
        return { network }
      },
    },
  })
}
