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

type LimiterDeps = Pick<Deps, 'settings' | 'limiters'>

/** Characters of a body that are checked at the price of one request. */
const charactersOfOne = 16_384

/**
 * Takes what a text costs to check beside its request: a place for each 16 KiB and for each
 * signature of a note. Resolves in a turn of the loop in which no other text is checked.
 * @throws Refusal 'rate_limited'
 */
export async function takeCheck(
  { settings, limiters }: LimiterDeps,
  { network, text }: { network: string; text: string },
): Promise<void> {
  const cost = Math.floor(text.length / charactersOfOne) + signaturesIn(text)
  if (cost > 0) {
    const verdict = limiters.keyless.take(network, settings.keylessPerMinute, cost)
    if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
  }
  await nextTurn()
}

/** Counts the lines of notes, which begin with a dash: in text, or escaped as JSON has them. */
const signaturesIn = (text: string): number => text.match(/(?:\n|\\n)(?:—|\\u2014) /g)?.length ?? 0

let last: Promise<void> = Promise.resolve()

/** Resolves after the sockets were polled once more since the one before went on. */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise((go) => setImmediate(() => setImmediate(go))))
  return last
}
