/** Operator tokens: their scopes, their states, their stored and shown forms. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { hashSecret, hasSecretForm } from '../keys/secret.ts'

/** Distinguishes tokens from account keys (`sk-service-`): neither works in place of the other. */
export const tokenPrefix = 'op-service-'

export const operatorScopes = [
  'accounts:read',
  'accounts:write',
  'grants:write',
  'keys:read',
  'keys:write',
  'usage:read',
  'deposits:read',
  'deposits:write',
  'models:read',
  'health:read',
] as const
export type OperatorScope = (typeof operatorScopes)[number]

/** A token as it is stored. */
export type OperatorToken = {
  id: string
  hash: string
  oldHash: string | null
  oldUntil: Millis | null
  name: string
  scopes: string[]
  createdAt: Millis
  expiresAt: Millis
  revokedAt: Millis | null
  lastUsedAt: Millis | null
}

export type TokenStatus = 'usable' | 'expired' | 'revoked'

/** The default and the longest life of a token, in ms. */
export const defaultLifeMs = 90 * 86_400_000
export const maxLifeMs = 366 * 86_400_000

/** Requests a minute of one token. */
export const tokenRpm = 600

/** The stored hash of a token; undefined for a text of another form, which needs no look-up. */
export const tokenHash = (text: string): string | undefined =>
  hasSecretForm(text, tokenPrefix) ? hashSecret(text) : undefined

/** Whether this hash is that of the current secret, or of the old one during its overlap. */
export const worksBy = (token: OperatorToken, hash: string, now: Millis): boolean =>
  token.hash === hash || (token.oldHash === hash && (token.oldUntil ?? 0) > now)

export function tokenStatus(token: OperatorToken, now: Millis): TokenStatus {
  if (token.revokedAt !== null) return 'revoked'
  return token.expiresAt <= now ? 'expired' : 'usable'
}

/** A token as the command line shows it, without its secret. */
export const toTokenView = (token: OperatorToken, now: Millis) => ({
  id: token.id,
  object: 'operator_token' as const,
  name: token.name,
  fingerprint: token.hash.slice(0, 12),
  scopes: token.scopes,
  status: tokenStatus(token, now),
  created_at: toRfc3339(token.createdAt),
  expires_at: toRfc3339(token.expiresAt),
  revoked_at: timeOrNull(token.revokedAt),
  last_used_at: timeOrNull(token.lastUsedAt),
})
