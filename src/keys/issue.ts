import type { KeyRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import type { Millis } from '../kernel/clock.ts'
import { maxNusd, type Nusd } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import type { CapWindow } from '../ledger/window.ts'
import {
  assertUsable,
  defaultLifeMs,
  defaultScopes,
  depthOf,
  matches,
  maxActiveKeys,
  maxDepth,
  maxLifeMs,
  type Scope,
} from './key.ts'
import { fingerprintOf, hashSecret, makeSecret } from './secret.ts'

/** What a new key is asked to be. What is left out is the default, or the parent's. */
export type KeyWish = {
  account: string
  parentId?: string | undefined
  name: string
  capLimit: Nusd
  capWindow: CapWindow
  expiresAt?: Millis | undefined
  scopes?: Scope[] | undefined
  models?: string[] | undefined
  tags?: Record<string, string> | undefined
  maxCostPerRun?: Nusd | undefined
  /** Who made it, for the audit: `operator`, a wallet or a key id. */
  actor: string
}

/**
 * Makes a key and returns it with its secret, which is nowhere kept. A child asks for no more
 * than its parent has.
 * @throws Refusal `invalid_request` with `param`, `conflict` above 500 active keys, or what the
 * parent's chain refuses.
 */
export async function issueKey(
  { ledger, keys, random, ids }: Pick<Deps, 'ledger' | 'keys' | 'random' | 'ids'>,
  wish: KeyWish,
): Promise<{ key: KeyRow; secret: string }> {
  const parent = wish.parentId === undefined ? undefined : await keys.find(wish.parentId)
  if (wish.parentId !== undefined && parent?.accountId !== wish.account) {
    refuse('invalid_request', { param: 'parent_id', message: 'There is no such parent key.' })
  }
  const secret = makeSecret(random)
  const hash = hashSecret(secret)
  const id = ids.make('key')
  const lineage = parent?.lineage ?? []
  const key = await ledger.post({
    account: wish.account,
    opens: true,
    mints: true,
    keys: lineage,
    decide(book) {
      if (book.activeKeys(wish.account) >= maxActiveKeys) {
        refuse('conflict', `An account has at most ${maxActiveKeys} active keys. Revoke one first.`)
      }
      const chain = lineage.map((ancestor) => book.key(ancestor) ?? refuse('invalid_key'))
      const row = toKeyRow(wish, chain, { id, hash, now: book.now })
      const above = chain[0]
      if (above) {
        above.childrenCount += 1
        book.changed('key', above)
      }
      book.addKey(row, { hash, keyId: id, validUntil: null })
      book.addAudit({
        id: ids.make('req'),
        at: book.now,
        actor: wish.actor,
        action: 'key.create',
        accountId: wish.account,
        subject: id,
        detail: { name: wish.name, parent_id: wish.parentId ?? null },
      })
      return row
    },
  })
  return { key, secret }
}

/** The row a wish becomes below `chain` (the parent first), or the refusal it earns. */
function toKeyRow(
  wish: KeyWish,
  chain: readonly KeyRow[],
  made: { id: string; hash: string; now: Millis },
): KeyRow {
  const { now } = made
  const parent = chain[0]
  assertUsable(chain, now)
  const no = (param: string, message: string): never =>
    refuse('invalid_request', { param, message })
  if (wish.name.length < 1 || wish.name.length > 64) no('name', 'A name has 1 to 64 characters.')
  if (wish.capLimit < 1n || wish.capLimit > maxNusd) {
    no('cap.limit_nusd', 'A cap is between 1 and 9,000,000,000,000,000 nano-USD.')
  }
  if (parent && wish.capLimit > parent.capLimit) {
    no('cap.limit_nusd', `A child's cap is at most its parent's, ${parent.capLimit} nano-USD.`)
  }
  if (parent && depthOf(parent) >= maxDepth) {
    no('parent_id', `Keys nest at most ${maxDepth} deep. Make the key under a higher one.`)
  }
  const latest = Math.min(now + maxLifeMs, parent?.expiresAt ?? Number.POSITIVE_INFINITY)
  const expiresAt = wish.expiresAt ?? Math.min(now + defaultLifeMs, latest)
  if (expiresAt <= now) no('expires_at', 'An expiry lies in the future.')
  if (expiresAt > latest) {
    no('expires_at', 'An expiry is at most 366 days away and not later than the parent’s.')
  }
  const scopes = wish.scopes ?? defaultScopes.filter((s) => parent?.scopes.includes(s) ?? true)
  if (parent && !scopes.every((scope) => parent.scopes.includes(scope))) {
    no('scopes', `A child's scopes are among its parent's: ${parent.scopes.join(', ')}.`)
  }
  const models = wish.models?.length ? wish.models : (parent?.models ?? [])
  if (parent?.models.length && !models.every((m) => parent.models.some((g) => matches(g, m)))) {
    no('models', `A child's models are among its parent's: ${parent.models.join(', ')}.`)
  }
  const tags = wish.tags ?? {}
  if (Object.keys(tags).length > 8) no('tags', 'A key has at most 8 tags.')
  return {
    id: made.id,
    accountId: wish.account,
    parentId: parent?.id ?? null,
    lineage: [made.id, ...(parent?.lineage ?? [])],
    name: wish.name,
    fingerprint: fingerprintOf(made.hash),
    capLimit: wish.capLimit,
    capWindow: wish.capWindow,
    rpm: null,
    concurrency: null,
    maxCostPerRun: wish.maxCostPerRun ?? null,
    scopes: [...scopes],
    models: [...models],
    ipCidrs: parent?.ipCidrs ?? [],
    tags,
    childrenCount: 0,
    createdAt: now,
    expiresAt,
    pausedAt: null,
    revokedAt: null,
    revokedBy: null,
    lastUsedAt: null,
  }
}
