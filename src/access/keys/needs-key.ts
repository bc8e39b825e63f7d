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
import { countRequest, type RateVerdict } from './rate.ts'
import { hashSecret, hasLengthOfSecret, isSecret, markIn } from './secret.ts'

/** A route's need of a key, and where else than in Authorization its protocol puts one. */
export type KeyRule = KeyNeed | { need: KeyNeed; keyIn: KeyIn }

/** The key that a request has in the place of its own protocol. */
export type KeyIn = (request: Request) => string | null

/** Anthropic's Messages API defines this header. */
export const apiKeyHeader: KeyIn = ({ headers }) => headers.get('x-api-key')

/** Says more than the ordinary words of a request without a known key. */
function hintFor(request: Request, keyIn: KeyIn | undefined): string | undefined {
  if (keyIn) return areTwo(request, keyIn) ? twoKeys : missingAnywhere
  const { headers } = request
  return headers.has('x-api-key') && !headers.has('authorization') ? misplaced : undefined
}

// Claude Code shows words of its own, "Please run /login", for a 401 that names `x-api-key`.
const twoKeys =
  'The request carries two different keys. Send one of them: unset ANTHROPIC_API_KEY or ' +
  'ANTHROPIC_AUTH_TOKEN.'
const missingAnywhere =
  'Send a valid API key as "Authorization: Bearer sk-service-…", or set ANTHROPIC_API_KEY or ' +
  "ANTHROPIC_AUTH_TOKEN of Anthropic's clients to one. This one is missing or unknown."
const misplaced =
  'Send the key as "Authorization: Bearer sk-service-…": x-api-key is taken under /v1/messages ' +
  "alone. Anthropic's clients do so if you set ANTHROPIC_AUTH_TOKEN in the place of " +
  'ANTHROPIC_API_KEY.'

/**
 * Gives routes marked `needsKey` their `caller`, or refuses before the body is read. Failures of
 * one client address are limited; a valid key from the same address is not. A key of another shard
 * is answered 421 with that shard.
 */
export const keyAuth = ({ keys, clock, settings, limiters, shard, slots }: Deps) => {
  const isTrusted = trustedProxies(settings.trustedProxies)

  const refuseMisrouted = (request: Request, keyIn?: KeyIn): void => {
    const secret = secretOf(request, keyIn)
    if (!secret || !isSecret(secret)) return
    refusePast(shard, markIn(secret), request)
    assertMarkHere(shard, markIn(secret))
  }

  const refuseFailure = (
    request: Request,
    server: Bun.Server<unknown> | null,
    keyIn?: KeyIn,
  ): never => {
    refuseMisrouted(request, keyIn)
    const client = rateKey(clientAddress(request, server, isTrusted))
    const words = hintFor(request, keyIn)
    refuseInvalidKey(limiters.keyFailures, client, settings.failedAuthPerMinute, words)
  }

  /** Another shard can answer while the database of this one cannot. */
  const orMisrouted = <T>(found: Promise<T>, request: Request, keyIn?: KeyIn): Promise<T> =>
    found.catch((error: unknown) => {
      refuseMisrouted(request, keyIn)
      throw error
    })

  /** A slot that moved since this process heard of it took its keys along, or brought them. */
  const findMoved = async (request: Request, keyIn?: KeyIn): Promise<Caller | undefined> => {
    const secret = secretOf(request, keyIn)
    if (!shard || !secret || !isSecret(secret)) return undefined
    if (!(await slots.learn(markIn(secret)))) return undefined
    refuseMisrouted(request, keyIn)
    return keys.findCaller(hashSecret(secret))
  }

  /** Apart, so that no request makes a function for an address that few keys look at. */
  const assertMayFrom = (
    caller: Caller,
    need: KeyNeed,
    request: Request,
    server: Bun.Server<unknown> | null,
  ): void => assertMay(caller, need, clock.now(), () => clientAddress(request, server, isTrusted))

  const enter = (caller: Caller): RateVerdict => {
    const counted = countRequest(limiters.keyRequests, caller, settings.nodes)
    if (counted.verdict.ok) keys.noteUse(caller.key.id, clock.now())
    return counted
  }

  return new Elysia({ name: 'key-auth' }).macro({
    needsKey: (rule: KeyRule) => {
      const { need, keyIn } = typeof rule === 'string' ? { need: rule, keyIn: undefined } : rule
      return {
        resolve: async ({ request, server, set }) => {
          // Awaited only if not cached: a promise costs time on every request.
          const found = callerOf(keys, request, keyIn)
          const isThere = !(found instanceof Promise)
          const caller =
            (isThere ? found : await orMisrouted(found, request, keyIn)) ??
            (await findMoved(request, keyIn))
          if (!caller) return refuseFailure(request, server, keyIn)
          if (!mayAtOnce(caller, need, clock.now())) assertMayFrom(caller, need, request, server)
          const { rpm, verdict } = enter(caller)
          Object.assign(set.headers, rateHeaders(rpm, verdict))
          if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
          noteAccount(request, caller.account)
          return { caller }
        },
      }
    },
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
 * The caller of a secret, which `keyIn` may find where there is no bearer. The checksum of an
 * uncached secret saves a look-up for junk; a cached secret passed it before.
 */
export function callerOf(
  keys: Pick<Deps['keys'], 'knownCaller' | 'findCaller'>,
  request: Request,
  keyIn?: KeyIn,
): Caller | Promise<Caller | undefined> | undefined {
  const secret = secretOf(request, keyIn)
  if (secret === undefined) return undefined
  return (
    keys.knownCaller(secret) ?? (isSecret(secret) ? keys.findCaller(hashSecret(secret)) : undefined)
  )
}

/** The secret of a request, if it is as long as one; undefined where two differ. */
function secretOf(request: Request, keyIn: KeyIn | undefined): string | undefined {
  const bearer = bearerOf(request)
  const other = keyIn?.(request)
  if (bearer !== undefined && isAnother(bearer, other)) return undefined
  const secret = bearer ?? other
  return secret && hasLengthOfSecret(secret) ? secret : undefined
}

/** The bearer token; undefined where there is none, or an empty one. */
function bearerOf({ headers }: Request): string | undefined {
  const header = headers.get('authorization')
  if (header === null || !/^bearer /i.test(header)) return undefined
  return header.slice(7) || undefined
}

function areTwo(request: Request, keyIn: KeyIn): boolean {
  const bearer = bearerOf(request)
  return bearer !== undefined && isAnother(bearer, keyIn(request))
}

const isAnother = (bearer: string, other: string | null | undefined): boolean =>
  Boolean(other) && other !== bearer
