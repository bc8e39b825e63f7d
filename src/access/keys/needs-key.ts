/** The guard of keyed routes: finds the caller of a bearer secret and checks what it may do. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { assertMarkHere, refusePast } from '../../kernel/shard.ts'
import { clientAddress, rateKey, trustedProxies } from '../../web/http/client-address.ts'
import { noteAccount } from '../../web/http/expected-body.ts'
import { rateHeaders, refuseInvalidKey, tooMany } from '../../web/http/limits.ts'
import {
  assertAddressAllowed,
  assertScope,
  assertUsable,
  type Caller,
  type KeyNeed,
  mayAtOnce,
  statusOf,
} from './key.ts'
import { type Counted, countRequest } from './rate.ts'
import { hashSecret, hasLengthOfSecret, isSecret, markIn } from './secret.ts'

/** Anthropic's clients send an API key in a header of their own, and a token as we want it. */
const hintFor = ({ headers }: Request): string | undefined =>
  headers.has('x-api-key') && !headers.has('authorization')
    ? 'Send the key as "Authorization: Bearer sk-service-…", not as x-api-key: Anthropic\'s ' +
      'clients do so if you set ANTHROPIC_AUTH_TOKEN in the place of ANTHROPIC_API_KEY.'
    : undefined

/**
 * Gives routes marked `needsKey` their `caller`, or refuses before the body is read. Failures of
 * one client address are limited; a valid key from the same address is not. A key of another shard
 * is answered 421 with that shard.
 */
export const keyAuth = ({ keys, clock, settings, limiters, shard }: Deps) => {
  const isTrusted = trustedProxies(settings.trustedProxies)

  const refuseMisrouted = (request: Request): void => {
    const secret = secretOf(request)
    if (!secret || !isSecret(secret)) return
    refusePast(shard, markIn(secret), request)
    assertMarkHere(shard, markIn(secret))
  }

  const refuseFailure = (request: Request, server: Bun.Server<unknown> | null): never => {
    refuseMisrouted(request)
    const client = rateKey(clientAddress(request, server, isTrusted))
    const words = hintFor(request)
    refuseInvalidKey(limiters.keyFailures, client, settings.failedAuthPerMinute, words)
  }

  /** Another shard can answer while the database of this one cannot. */
  const orMisrouted = <T>(found: Promise<T>, request: Request): Promise<T> =>
    found.catch((error: unknown) => {
      refuseMisrouted(request)
      throw error
    })

  /** Apart, so that no request makes a function for an address that few keys look at. */
  const assertMayFrom = (
    caller: Caller,
    need: KeyNeed,
    request: Request,
    server: Bun.Server<unknown> | null,
  ): void => assertMay(caller, need, clock.now(), () => clientAddress(request, server, isTrusted))

  const enter = (caller: Caller): Counted => {
    const counted = countRequest(limiters.keyRequests, caller, settings.nodes)
    if (counted.verdict.ok) keys.noteUse(caller.key.id, clock.now())
    return counted
  }

  return new Elysia({ name: 'key-auth' }).macro({
    needsKey: (need: KeyNeed) => ({
      resolve: async ({ request, server, set }) => {
        // Awaited only if not cached: a promise costs time on every request.
        const found = callerOf(keys, request)
        const caller = found instanceof Promise ? await orMisrouted(found, request) : found
        if (!caller) return refuseFailure(request, server)
        if (!mayAtOnce(caller, need, clock.now())) assertMayFrom(caller, need, request, server)
        const { rpm, verdict } = enter(caller)
        Object.assign(set.headers, rateHeaders(rpm, verdict))
        if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
        noteAccount(request, caller.account)
        return { caller }
      },
    }),
  })
}

/**
 * Checks, in this order: a usable key, an active account, the networks, the scope.
 * @throws Refusal of the first check that fails
 */
export function assertMay(caller: Caller, need: KeyNeed, now: number, address: () => string): void {
  if (mayAtOnce(caller, need, now)) return
  const { chain, suspended } = caller
  const isTaken = need === 'also-paused' && statusOf(chain, now) === 'paused'
  if (!isTaken) assertUsable(chain, now)
  if (suspended) refuse('account_suspended')
  assertAddressAllowed(chain, address)
  if (need !== 'any' && need !== 'also-paused') assertScope(chain, need)
}

/**
 * The caller of a bearer secret. The checksum of an uncached secret saves a look-up for junk; a
 * cached secret passed it before.
 */
export function callerOf(
  keys: Pick<Deps['keys'], 'knownCaller' | 'findCaller'>,
  request: Request,
): Caller | Promise<Caller | undefined> | undefined {
  const secret = secretOf(request)
  if (secret === undefined) return undefined
  return (
    keys.knownCaller(secret) ?? (isSecret(secret) ? keys.findCaller(hashSecret(secret)) : undefined)
  )
}

/** The bearer token, if it is as long as a secret. */
function secretOf({ headers }: Request): string | undefined {
  const header = headers.get('authorization')
  if (header === null || !/^bearer /i.test(header)) return undefined
  const secret = header.slice(7)
  return hasLengthOfSecret(secret) ? secret : undefined
}
