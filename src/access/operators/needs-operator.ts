/** The guard of the operator API: finds the token of a request and checks what it may do. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { elsewhereByShard, refuseElsewhere } from '../../kernel/shard.ts'
import { clientAddress, rateKey, trustedProxies } from '../../web/http/client-address.ts'
import { rateHeaders, refuseInvalidKey, tooMany } from '../../web/http/limits.ts'
import { markIn } from '../keys/secret.ts'
import {
  type OperatorScope,
  type OperatorToken,
  tokenHash,
  tokenRpm,
  tokenStatus,
  worksBy,
} from './token.ts'

const invalid =
  'Send a valid operator token as "Authorization: Bearer op-service-…". This one is missing or ' +
  'unknown. Account keys do not work here.'

/** The audit notes a token on a route once in this time, in ms, and counts the uses between. */
const notedEveryMs = 60_000

/**
 * `needsOperator` gives a route the `token` of an operator, or refuses before the body is read.
 * The token is read from the database each time, so that a revocation counts at once everywhere.
 */
export const operatorAuth = (deps: Deps) => {
  const { clock, limiters, log, operatorTokens, settings, shard } = deps
  const isTrusted = trustedProxies(settings.trustedProxies)
  const noteUse = useNotes(deps)
  const refuseMisrouted = (request: Request): void => {
    const other = elsewhereByShard(shard, markIn(bearerOf(request) ?? ''))
    if (other) refuseElsewhere(other)
  }
  const find = (hash: string, request: Request) =>
    operatorTokens.findByHash(hash).catch((error: unknown) => {
      // Another shard can answer while the database of this one cannot.
      refuseMisrouted(request)
      throw error
    })
  return new Elysia({ name: 'operator-auth' }).macro({
    needsOperator: (scope: OperatorScope) => ({
      resolve: async ({ request, server, set, route }) => {
        const client = clientAddress(request, server, isTrusted)
        const hash = tokenHash(bearerOf(request) ?? '')
        const token = hash === undefined ? undefined : await find(hash, request)
        const now = clock.now()
        if (!token || hash === undefined || !worksBy(token, hash, now)) {
          const { failedAuthPerMinute } = settings
          if (hash) refuseMisrouted(request)
          return refuseInvalidKey(
            limiters.keyFailures,
            rateKey(client),
            failedAuthPerMinute,
            invalid,
          )
        }
        assertMay(token, scope, now)
        const verdict = limiters.keyRequests.take(token.id, Math.ceil(tokenRpm / settings.nodes))
        Object.assign(set.headers, rateHeaders(tokenRpm, verdict))
        if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
        // A full disk must not block reads; every change has an audit entry of its own.
        await noteUse(token, `${request.method} ${route}`, client).catch((error: unknown) =>
          log.error('operator_token.not_noted', error),
        )
        return { token }
      },
    }),
  })
}

/** @throws Refusal `key_revoked`, `key_expired`, `scope_denied` */
function assertMay(token: OperatorToken, scope: OperatorScope, now: Millis): void {
  const status = tokenStatus(token, now)
  if (status === 'revoked') refuse('key_revoked', 'This operator token was revoked.')
  if (status === 'expired') refuse('key_expired', 'This operator token is past its expiry.')
  if (token.scopes.includes(scope)) return
  refuse('scope_denied', `This operator token does not have the scope ${scope}.`)
}

function bearerOf({ headers }: Request): string | undefined {
  const header = headers.get('authorization')
  return header !== null && /^bearer /i.test(header) ? header.slice(7) : undefined
}

/**
 * Writes uses into the audit: the first of a token on a route, then one a minute with a count, so
 * that a loop does not fill the disk. Every change has an entry of its own.
 */
function useNotes({ clock, ids, operatorTokens }: Deps) {
  const seen = new Map<string, { until: number; unnoted: number }>()
  return async (token: OperatorToken, route: string, client: string): Promise<void> => {
    const name = `${token.id} ${route}`
    const known = seen.get(name)
    const now = clock.monotonic()
    if (known && known.until > now) {
      known.unnoted++
      return
    }
    // The map stays small: it has one entry per token and route.
    seen.set(name, { until: now + notedEveryMs, unnoted: 0 })
    const at = clock.now()
    await operatorTokens.noteUse(token.id, at, {
      id: ids.make('req'),
      at,
      actor: token.id,
      action: 'operator_token.use',
      accountId: 'operator',
      subject: route,
      detail: { client_address: client, unnoted: known?.unnoted ?? 0 },
    })
  }
}
