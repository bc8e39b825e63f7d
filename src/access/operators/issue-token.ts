/** Makes, rotates and revokes tokens of the operator API. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { AuditRow } from '../../storage/db/schema/schema.ts'
import { fingerprintOf, hashSecret, makeSecret } from '../keys/secret.ts'
import { maxLifeMs, type OperatorScope, type OperatorToken, tokenPrefix } from './token.ts'

type Needs = Pick<Deps, 'clock' | 'ids' | 'operatorTokens' | 'random' | 'shard'>

/** Returns the token with its secret, which is stored nowhere. @throws Refusal `invalid_request` */
export async function issueToken(
  deps: Needs,
  wish: { name: string; scopes: readonly OperatorScope[]; lifeMs: number },
): Promise<{ token: OperatorToken; secret: string }> {
  if (wish.scopes.length === 0) refuse('invalid_request', 'Name at least one scope.')
  if (wish.lifeMs > maxLifeMs) refuse('invalid_request', 'A token lives at most 366 days.')
  const secret = makeSecret(deps.random, tokenPrefix, deps.shard?.id)
  const now = deps.clock.now()
  const token: OperatorToken = {
    id: deps.ids.make('opt'),
    hash: hashSecret(secret),
    oldHash: null,
    oldUntil: null,
    name: wish.name,
    scopes: [...new Set(wish.scopes)],
    createdAt: now,
    expiresAt: now + wish.lifeMs,
    revokedAt: null,
    lastUsedAt: null,
  }
  const detail = {
    name: token.name,
    scopes: token.scopes,
    expires_at: toRfc3339(token.expiresAt),
    fingerprint: fingerprintOf(token.hash),
  }
  await deps.operatorTokens.add(token, noteOf(deps, token.id, 'operator_token.create', detail))
  return { token, secret }
}

/**
 * Gives a token another secret; the old one works for `overlapMs` more. Scopes and expiry stay.
 * @throws Refusal `not_found`, `conflict`
 */
export async function rotateToken(
  deps: Needs,
  id: string,
  overlapMs: number,
): Promise<{ token: OperatorToken; secret: string }> {
  const found = await deps.operatorTokens.find(id)
  if (!found) return refuse('not_found', 'There is no such token.')
  const secret = makeSecret(deps.random, tokenPrefix, deps.shard?.id)
  const hash = hashSecret(secret)
  const oldUntil = deps.clock.now() + overlapMs
  const fingerprint = { from: fingerprintOf(found.hash), to: fingerprintOf(hash) }
  const detail = { fingerprint, overlap_until: toRfc3339(oldUntil) }
  const audit = noteOf(deps, id, 'operator_token.rotate', detail)
  if (!(await deps.operatorTokens.rotate(id, { from: found.hash, hash, oldUntil }, audit))) {
    refuse('conflict', 'The token is revoked, or was rotated meanwhile.')
  }
  return { token: { ...found, hash, oldHash: found.hash, oldUntil }, secret }
}

/** Revoking twice changes nothing. @throws Refusal `not_found` */
export async function revokeToken(deps: Needs, id: string): Promise<void> {
  if (!(await deps.operatorTokens.find(id))) refuse('not_found', 'There is no such token.')
  const audit = noteOf(deps, id, 'operator_token.revoke', {})
  await deps.operatorTokens.revoke(id, audit.at, audit)
}

const noteOf = (
  { ids, clock }: Needs,
  id: string,
  action: string,
  detail: Record<string, Json>,
): AuditRow => ({
  id: ids.make('req'),
  at: clock.now(),
  actor: 'operator',
  action,
  accountId: 'operator',
  subject: id,
  detail,
})
