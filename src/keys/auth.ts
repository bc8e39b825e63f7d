import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { clientAddress, type PeerSource, rateKey, trustedProxies } from '../http/address.ts'
import {
  type Limiter,
  makeLimiter,
  rateHeaders,
  refuseInvalidKey,
  tooMany,
  type Verdict,
} from '../http/limits.ts'
import { Refusal, refuse } from '../kernel/refusal.ts'
import {
  assertAddressAllowed,
  assertScope,
  assertUsable,
  type Caller,
  leastOf,
  type Scope,
} from './key.ts'
import { hashSecret, hasLengthOfSecret, isSecret } from './secret.ts'

/** What a keyed route asks of its caller: a scope, or `any` for a usable key of whatever scope. */
export type KeyNeed = Scope | 'any' | 'also-paused'

type Needs = Pick<Deps, 'keys' | 'clock' | 'settings'>

/**
 * Gives routes marked `needsKey` their `caller`, or refuses before the body is looked at. Failures
 * of one client address are limited; a good key from the same address is not. All doors of one
 * service share one guard, so that what is counted is counted once.
 */
export const keyAuth = (deps: Needs): ReturnType<typeof makeGuard> => {
  const known = guards.get(deps.keys)
  if (known) return known
  const made = makeGuard(deps)
  guards.set(deps.keys, made)
  return made
}

const guards = new WeakMap<Deps['keys'], ReturnType<typeof makeGuard>>()

const makeGuard = ({ keys, clock, settings }: Needs) => {
  const failures = makeLimiter(clock)
  const requests = makeLimiter(clock)
  const isTrusted = trustedProxies(settings.trustedProxies)

  const refuseFailure = (request: Request, server: Bun.Server<unknown> | null): never => {
    const client = rateKey(clientAddress(request, server, isTrusted))
    refuseInvalidKey(failures, client, settings.failedAuthPerMinute)
  }

  return new Elysia({ name: 'key-auth' }).macro({
    needsKey: (need: KeyNeed) => ({
      resolve: async ({ request, server, set }) => {
        // Awaited only when it was not remembered: a promise a request is not free.
        const found = callerOf(keys, request)
        const caller = found instanceof Promise ? await found : found
        if (!caller) return refuseFailure(request, server)
        assertMay(caller, need, clock.now(), () => clientAddress(request, server, isTrusted))
        countRequest(requests, caller, settings.nodes, set.headers)
        keys.noteUse(caller.key.id, clock.now())
        return { caller }
      },
    }),
  })
}

/**
 * The caller of a keyless route that shows more to an owner: undefined for no key, and for a key
 * that is not usable, does not carry `scope`, or does not exist.
 */
export async function optionalCaller(
  { keys, clock, settings }: Pick<Deps, 'keys' | 'clock' | 'settings'>,
  { request, server }: { request: Request; server: PeerSource | null },
  scope: Scope,
): Promise<Caller | undefined> {
  const caller = await callerOf(keys, request)
  if (!caller) return undefined
  try {
    const isTrusted = trustedProxies(settings.trustedProxies)
    assertMay(caller, scope, clock.now(), () => clientAddress(request, server, isTrusted))
    return caller
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/**
 * Counts a request against every key of the chain, each with its own limit or that of the plan,
 * whichever is lower, divided between the `nodes` there are; and says in headers where the nearest
 * one stands.
 * @throws Refusal `rate_limited`.
 */
function countRequest(
  requests: Limiter,
  { chain, plan }: Caller,
  nodes: number,
  headers: Record<string, string | number>,
): void {
  let nearest: Verdict | undefined
  let limit = 0
  for (const { id, rpm: own } of chain) {
    const rpm = Math.ceil(Math.min(own ?? plan.limits.rpm, plan.limits.rpm) / nodes)
    const verdict = requests.take(id, rpm)
    if (!verdict.ok) {
      Object.assign(headers, rateHeaders(rpm, verdict))
      throw tooMany(verdict.retryAfterMs, 'rate_limited')
    }
    if (nearest && verdict.remaining >= nearest.remaining) continue
    nearest = verdict
    limit = rpm
  }
  if (nearest) Object.assign(headers, rateHeaders(limit, nearest))
}

/**
 * What a request asks of its caller, in this order: a usable key, an account that is not suspended,
 * an address that the keys are bound to, the scope.
 * @throws Refusal of the first that is missing.
 */
export function assertMay(caller: Caller, need: KeyNeed, now: number, address: () => string): void {
  const { chain, suspended } = caller
  caller.least ??= leastOf(chain)
  const { isRevoked, isPaused, expiresAt, isBound, scopes } = caller.least
  if (isRevoked || expiresAt <= now || (isPaused && need !== 'also-paused')) {
    assertUsable(chain, now)
  }
  if (suspended) refuse('account_suspended')
  if (isBound) assertAddressAllowed(chain, address)
  if (need === 'any' || need === 'also-paused' || scopes.includes(need)) return
  assertScope(chain, need)
}

/**
 * The caller of a bearer secret. The checksum is asked only of one that is not remembered: junk
 * costs no look-up, and what was found once by its hash has the right one.
 */
function callerOf(
  keys: Pick<Deps['keys'], 'findCaller'>,
  request: Request,
): Caller | Promise<Caller | undefined> | undefined {
  const header = request.headers.get('authorization')
  if (header === null || !/^bearer /i.test(header)) return undefined
  const secret = header.slice(7)
  return hasLengthOfSecret(secret)
    ? keys.findCaller(hashSecret(secret), () => isSecret(secret))
    : undefined
}
