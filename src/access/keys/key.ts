/** The rights of a key and its ancestors: state, scopes, models, networks. */
import type { Actor } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import { matchesGlob } from '../../kernel/glob.ts'
import { parseAddress } from '../../kernel/network-address.ts'
import { isWithin, parseBlock } from '../../kernel/network-block.ts'
import { type RefusalDetail, refuse } from '../../kernel/refusal.ts'
import { isRoot } from '../../ledger/purse.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import type { Plan } from '../plan.ts'

/** A key, its parent, … up to the root. A right must be granted by every key of the chain. */
export type Chain = readonly KeyRow[]

/** The sender of a keyed request: its chain of keys and the account they spend from. */
export type Caller = {
  /** Needs that passed every check, until {@link Caller.mayUntil}: a bit per {@link KeyNeed}. */
  may?: number
  /** The first expiry of the chain. */
  mayUntil?: Millis
  account: string
  suspended: boolean
  /**
   * Whether the account had no money when this was read: within a second where it had little, else
   * within a minute. It decides on budgets of unpaid work alone; holds read the balance itself.
   */
  isEmpty?: boolean
  plan: Plan
  chain: Chain
  key: KeyRow
}

/**
 * The key of a command, and who gives it: `operator`, a wallet or the id of a key. `acting` is the
 * caller in the dashboard, whose membership must still exist at the commit.
 */
export type KeyCommand = { keyId: string; actor: string; acting?: Actor | undefined }

export type KeyStatus = 'usable' | 'paused' | 'expired' | 'revoked'

export const scopes = [
  'runs:write',
  'runs:read',
  'usage:read',
  'receipts:read',
  'receipts:share',
  'keys:mint',
  'keys:read',
  'webhooks:write',
] as const
export type Scope = (typeof scopes)[number]

/** The need of a keyed route: a scope, or `any` for a usable key with any scope. */
export type KeyNeed = Scope | 'any' | 'also-paused'

const needs: readonly KeyNeed[] = [...scopes, 'any', 'also-paused']

const bitOf = Object.fromEntries(needs.map((need, at) => [need, 1 << at])) as Record<
  KeyNeed,
  number
>

/** Scopes that a new key has only on request. */
const askedScopes: readonly Scope[] = ['keys:mint', 'receipts:share', 'webhooks:write']

/** The scopes of a new key by default: all but minting, sharing and webhooks. */
export const defaultScopes: readonly Scope[] = scopes.filter((one) => !askedScopes.includes(one))

export const dayMs = 86_400_000
export const defaultLifeMs = 90 * dayMs
export const maxLifeMs = 366 * dayMs
/** A root has depth 0, its great-great-grandchildren 4. */
export const maxDepth = 4
/** Keys of one account that are neither revoked nor expired. */
export const maxActiveKeys = 500

export const depthOf = (key: KeyRow): number => key.lineage.length - 1

/** Computes what a chain allows once, because every request checks it. */
export function makeCaller(read: Omit<Caller, 'may' | 'mayUntil'>): Caller {
  const { account, suspended, isEmpty, plan, chain, key } = read
  const mayUntil = Math.min(...chain.map(({ expiresAt }) => expiresAt))
  const isPaused = chain.some(({ pausedAt }) => pausedAt !== null)
  // Refused and network-bound callers take the full check.
  const isPlain = !suspended && chain.every((one) => one.revokedAt === null && isUnbound(one))
  const allowed = needs.filter((need) => {
    if (need === 'also-paused') return isPlain
    return isPlain && !isPaused && (need === 'any' || isScopeOf(chain, need))
  })
  const may = allowed.reduce((bits, need) => bits | bitOf[need], 0)
  return { may, mayUntil, account, suspended, isEmpty: isEmpty === true, plan, chain, key }
}

/**
 * Keys below another, and those of members, learn of their own branch alone. `why` says what the
 * route tells of the account.
 * @throws Refusal `scope_denied`
 */
export function assertRoot(key: KeyRow, why: string): void {
  if (!isRoot(key)) refuse('scope_denied', `${why}: ask by a key without a parent.`)
}

/** Whether no further check is needed. False does not mean refused. */
export const mayAtOnce = ({ may = 0, mayUntil = 0 }: Caller, need: KeyNeed, now: Millis): boolean =>
  (may & bitOf[need]) !== 0 && mayUntil > now

/** The state of the whole chain: revoked before expired before paused. */
export function statusOf(chain: Chain, now: Millis): KeyStatus {
  if (chain.some((key) => key.revokedAt !== null)) return 'revoked'
  if (chain.some((key) => key.expiresAt <= now)) return 'expired'
  if (chain.some((key) => key.pausedAt !== null)) return 'paused'
  return 'usable'
}

/** The keys of a lineage as they will be at the command's COMMIT. */
export const chainOf = (unit: UnitOfWork, lineage: readonly string[]): KeyRow[] =>
  lineage.map((id) => unit.key(id) ?? refuse('invalid_key'))

/** @throws Refusal `conflict` if the key or one above it is revoked */
export function assertNotRevoked(chain: Chain): void {
  if (chain.every((key) => key.revokedAt === null)) return
  refuse('conflict', 'The key is revoked permanently. Create another key.')
}

/** @throws Refusal `key_revoked`, `key_expired` or `key_paused`, in this order. */
export function assertUsable(chain: Chain, now: Millis): void {
  const status = statusOf(chain, now)
  if (status === 'revoked') refuse('key_revoked')
  if (status === 'expired') refuse('key_expired')
  if (status === 'paused') refuse('key_paused', pausedDetail(chain))
}

/** Says which key was paused and why, by its id: keys below may not know its name. */
function pausedDetail(chain: Chain): RefusalDetail {
  const leaked = chain.find(({ pausedReason }) => pausedReason === 'leak')
  if (leaked) {
    return {
      message:
        `Key ${leaked.id} is paused: its secret, or that of the key which made it, was reported ` +
        'as leaked. Its owner can rotate the secret, then resume the key.',
      metadata: { paused_reason: 'leak', blocking_key_id: leaked.id },
    }
  }
  const braked = chain.find(({ pausedReason }) => pausedReason === 'brake')
  if (!braked) return {}
  return {
    message:
      `The brake of key ${braked.id} was pulled, and the key is paused. Its owner can look at ` +
      'its runs and resume it.',
    metadata: { paused_reason: 'brake', blocking_key_id: braked.id },
  }
}

/**
 * Checks at the commit that a key which changes one of its chain may still act; it may have been
 * paused since its request came. Other actors pass.
 * @throws Refusal as {@link assertUsable}
 */
export function assertActs(chain: Chain, actor: string, now: Millis): void {
  const at = chain.findIndex(({ id }) => id === actor)
  if (at !== -1) assertUsable(chain.slice(at), now)
}

/** @throws Refusal `scope_denied` unless every key of the chain has the scope */
export function assertScope(chain: Chain, scope: Scope): void {
  if (isScopeOf(chain, scope)) return
  refuse('scope_denied', `This key does not have the scope ${scope}. Use a key that has it.`)
}

/** Whether every key of a chain has a scope. */
export const isScopeOf = (chain: Chain, scope: Scope): boolean =>
  chain.every((key) => key.scopes.includes(scope))

/** @throws Refusal `model_not_allowed` unless every key of the chain allows the model. */
export function assertModelAllowed(chain: Chain, model: string): void {
  if (!isModelAllowed(chain, model)) refuse('model_not_allowed')
}

export const isModelAllowed = (chain: Chain, model: string): boolean =>
  chain.every(({ models }) => models.length === 0 || models.some((glob) => matches(glob, model)))

/** @throws Refusal `model_not_allowed` unless the plan allows the model */
export function assertModelInPlan({ models, name }: Plan, model: string): void {
  if (models.length === 0 || models.some((glob) => matches(glob, model))) return
  const message = `The plan ${name} does not include this model. GET /v1/plans lists its models.`
  refuse('model_not_allowed', message)
}

/**
 * Calls `address` only if a key of the chain is bound to networks.
 * @throws Refusal `ip_not_allowed` unless every key of the chain allows the address
 */
export function assertAddressAllowed(chain: Chain, address: () => string): void {
  if (chain.every(isUnbound)) return
  const from = parseAddress(address())
  const isIn = (entry: string): boolean => {
    const block = parseBlock(entry)
    return from !== undefined && block !== undefined && isWithin(from, block)
  }
  const allows = (key: KeyRow) => key.ipCidrs.length === 0 || key.ipCidrs.some(isIn)
  if (!chain.every(allows)) refuse('ip_not_allowed')
}

const isUnbound = ({ ipCidrs }: KeyRow): boolean => ipCidrs.length === 0

/** Whether a glob such as `acme/*` covers a model id. */
export const matches = matchesGlob
