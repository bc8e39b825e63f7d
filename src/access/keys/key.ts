import type { Millis } from '../../kernel/clock.ts'
import { parseAddress } from '../../kernel/network-address.ts'
import { isWithin, parseBlock } from '../../kernel/network-block.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow } from '../../storage/db/schema.ts'
import type { Plan } from '../plan.ts'

/**
 * A key: what an agent holds to spend its account's balance, up to a cap and until an expiry.
 * A chain is the key itself, its parent, … up to the root; its rights are the least over it.
 */
export type Chain = readonly KeyRow[]

/** Who is calling: a chain of keys as it was read, and the account they spend from. */
export type Caller = {
  /** What needs no closer look before {@link Caller.mayUntil}, a bit for each {@link KeyNeed}. */
  may?: number
  /** The first expiry of the chain. */
  mayUntil?: Millis
  account: string
  suspended: boolean
  plan: Plan
  chain: Chain
  key: KeyRow
}

export type KeyStatus = 'usable' | 'paused' | 'expired' | 'revoked'

export const scopes = [
  'runs:write',
  'runs:read',
  'usage:read',
  'receipts:read',
  'receipts:share',
  'keys:mint',
  'keys:read',
] as const
export type Scope = (typeof scopes)[number]

/** What a keyed route asks of its caller: a scope, or `any` for a usable key of whatever scope. */
export type KeyNeed = Scope | 'any' | 'also-paused'

const needs: readonly KeyNeed[] = [...scopes, 'any', 'also-paused']

const bitOf = Object.fromEntries(needs.map((need, at) => [need, 1 << at])) as Record<
  KeyNeed,
  number
>

/** What a key may do unless its maker says otherwise: not minting, not sharing. */
export const defaultScopes: readonly Scope[] = scopes.filter(
  (scope) => scope !== 'keys:mint' && scope !== 'receipts:share',
)

export const dayMs = 86_400_000
export const defaultLifeMs = 90 * dayMs
export const maxLifeMs = 366 * dayMs
/** A root has depth 0, its great-great-grandchildren 4. */
export const maxDepth = 4
/** Keys of one account that are neither revoked nor expired. */
export const maxActiveKeys = 500

export const depthOf = (key: KeyRow): number => key.lineage.length - 1

/** Sums up what a chain allows, because every request asks. */
export function makeCaller(read: Omit<Caller, 'may' | 'mayUntil'>): Caller {
  const { account, suspended, plan, chain, key } = read
  const mayUntil = Math.min(...chain.map(({ expiresAt }) => expiresAt))
  const isPaused = chain.some(({ pausedAt }) => pausedAt !== null)
  // Whoever is refused, or bound to networks, is looked at.
  const isPlain = !suspended && chain.every((one) => one.revokedAt === null && isUnbound(one))
  const allowed = needs.filter((need) => {
    if (need === 'also-paused') return isPlain
    return isPlain && !isPaused && (need === 'any' || isScopeOf(chain, need))
  })
  const may = allowed.reduce((bits, need) => bits | bitOf[need], 0)
  return { may, mayUntil, account, suspended, plan, chain, key }
}

/** Whether a request can go on; if not, a closer look tells why, or that it can. */
export const mayAtOnce = ({ may = 0, mayUntil = 0 }: Caller, need: KeyNeed, now: Millis): boolean =>
  (may & bitOf[need]) !== 0 && mayUntil > now

/** The state of the whole chain: revoked before expired before paused. */
export function statusOf(chain: Chain, now: Millis): KeyStatus {
  if (chain.some((key) => key.revokedAt !== null)) return 'revoked'
  if (chain.some((key) => key.expiresAt <= now)) return 'expired'
  if (chain.some((key) => key.pausedAt !== null)) return 'paused'
  return 'usable'
}

/** The keys of a lineage as a command finds them, which is how they are at its COMMIT. */
export const chainOf = (unit: UnitOfWork, lineage: readonly string[]): KeyRow[] =>
  lineage.map((id) => unit.key(id) ?? refuse('invalid_key'))

/** @throws Refusal `conflict` for a key that is revoked, or under one that is. */
export function assertNotRevoked(chain: Chain): void {
  if (chain.every((key) => key.revokedAt === null)) return
  refuse('conflict', 'The key is revoked, and that is final. Make another one.')
}

/** @throws Refusal `key_revoked`, `key_expired` or `key_paused`, in this order. */
export function assertUsable(chain: Chain, now: Millis): void {
  const status = statusOf(chain, now)
  if (status === 'revoked') refuse('key_revoked')
  if (status === 'expired') refuse('key_expired')
  if (status === 'paused') refuse('key_paused')
}

/** @throws Refusal `scope_denied` unless every key of the chain carries the scope. */
export function assertScope(chain: Chain, scope: Scope): void {
  if (isScopeOf(chain, scope)) return
  refuse('scope_denied', `This key does not carry the scope ${scope}. Use one that does.`)
}

const isScopeOf = (chain: Chain, scope: Scope): boolean =>
  chain.every((key) => key.scopes.includes(scope))

/** @throws Refusal `model_not_allowed` unless every key of the chain allows the model. */
export function assertModelAllowed(chain: Chain, model: string): void {
  if (chain.every((key) => key.models.length === 0 || key.models.some((g) => matches(g, model)))) {
    return
  }
  refuse('model_not_allowed')
}

/** @throws Refusal `model_not_allowed` unless the plan opens the model. */
export function assertModelInPlan({ models, name }: Plan, model: string): void {
  if (models.length === 0 || models.some((glob) => matches(glob, model))) return
  const message = `The plan ${name} does not open this model. GET /v1/plans lists what each opens.`
  refuse('model_not_allowed', message)
}

/**
 * `address` is asked for only where a key of the chain is bound to networks.
 * @throws Refusal `ip_not_allowed` unless every key of the chain may be used from there.
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

/** Whether a glob such as `acme/*` covers a model id; `*` stands for any run of characters. */
export function matches(glob: string, model: string): boolean {
  const [head = '', ...parts] = glob.split('*')
  if (parts.length === 0) return glob === model
  const tail = parts.pop() ?? ''
  if (!model.startsWith(head) || model.length < head.length + tail.length) return false
  let at = head.length
  for (const part of parts) {
    const found = model.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return model.endsWith(tail) && at + tail.length <= model.length
}
