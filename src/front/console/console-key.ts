/** The key that a console spends through: a root key, or one of a branch, made at first use. */
import { changeKey } from '../../access/keys/change.ts'
import { issueKey, type KeyRequest } from '../../access/keys/issue.ts'
import {
  assertAddressAllowed,
  assertScope,
  assertUsable,
  type Caller,
  scopes,
  statusOf,
} from '../../access/keys/key.ts'
import { limitColumns } from '../../access/keys/key-limits.ts'
import { revokeKey } from '../../access/keys/revoke.ts'
import type { ShownKey } from '../../access/keys/shown-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { maxNusd, min, type Nusd, parseUsd } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'

/** The default cap a day: $1. */
export const defaultCap: Nusd = 1_000_000_000n

/** The console key; undefined before its first use. */
export async function readKey(deps: Deps, acting: Actor): Promise<ShownKey | undefined> {
  const keyId = await deps.console.keyOf(acting)
  return keyId === undefined ? undefined : deps.keys.show(keyId, deps.clock.now())
}

/**
 * The caller that pays for a console run from `address`.
 * @throws Refusal `key_revoked`, `key_paused`, `scope_denied`, `ip_not_allowed`, or `conflict`
 * above the active keys of the plan.
 */
export async function payerOf(deps: Deps, acting: Actor, address: string): Promise<Caller> {
  const { account } = acting
  const found = await readKey(deps, acting)
  const isFresh = found === undefined || stateOf(deps, found) === 'expired'
  const { chain, key } = isFresh ? await openKey(deps, acting, found) : found
  const state = statusOf(chain, deps.clock.now())
  if (state === 'revoked') refuse('key_revoked', revokedWords)
  if (state === 'paused') refuse('key_paused', pausedWords)
  assertUsable(chain, deps.clock.now())
  assertAddressAllowed(chain, () => address)
  assertScope(chain, 'runs:write')
  deps.keys.noteUse(key.id, deps.clock.now())
  const row = await deps.accounts.find(account)
  if (!row) throw new Error('a session without an account')
  const plan = deps.plans.of(row, deps.clock.now())
  return { account, suspended: row.status === 'suspended', plan, chain, key }
}

const revokedWords = 'The console key was revoked. Create a new one to continue.'
const pausedWords = 'The console key is paused. Resume it on the Keys page to continue.'

/** Replaces a revoked, expired or missing key; keeps one that is usable or paused. */
export async function renewKey(deps: Deps, acting: Actor): Promise<ShownKey> {
  const found = await readKey(deps, acting)
  const state = found && stateOf(deps, found)
  if (found && (state === 'usable' || state === 'paused')) return found
  return openKey(deps, acting, found)
}

/**
 * Sets the cap of the console key, which it creates if needed.
 * @throws Refusal `invalid_request`, `conflict` below the spent amount or for a revoked key
 */
export async function changeCap(deps: Deps, acting: Actor, cap: string): Promise<ShownKey> {
  const capLimit = parseUsd(cap.trim().replace(/^\$/, ''))
  if (capLimit === undefined || capLimit === 0n) {
    refuseField('cap', 'Enter the cap in dollars, above 0, such as 2.50.')
  }
  const found = await readKey(deps, acting)
  const state = found && stateOf(deps, found)
  if (state === 'revoked') refuse('conflict', revokedWords)
  if (!found || state === 'expired') return openKey(deps, acting, found, capLimit)
  const wish = { keyId: found.key.id, actor: acting.wallet, acting }
  await changeKey(deps, { ...wish, change: { capLimit } })
  return deps.keys.show(found.key.id, deps.clock.now())
}

const stateOf = ({ clock }: Deps, { chain }: ShownKey) => statusOf(chain, clock.now())

/**
 * Creates the key, like the one before it, and discards the secret. The loser of a race revokes its
 * own key and uses the winner's.
 */
async function openKey(
  deps: Deps,
  acting: Actor,
  before: ShownKey | undefined,
  capLimit?: Nusd,
): Promise<ShownKey> {
  const branch = acting.branch === undefined ? undefined : await deps.keys.find(acting.branch)
  const limit = capLimit === undefined ? {} : { capLimit }
  const { key } = await issueKey(deps, { ...wishLike(acting, before?.key, branch), ...limit })
  if (!(await deps.console.replaceKey(acting, before?.key.id, key.id))) {
    await revokeKey(deps, { keyId: key.id, actor: acting.wallet })
  }
  const now = await readKey(deps, acting)
  if (!now) throw new Error('the console lost its key')
  return now
}

/** Columns of a key that its successor gets unchanged; a test finds those that no list names. */
export const keptColumns = [
  'models',
  'ipCidrs',
  'tags',
  ...limitColumns,
] as const satisfies (keyof KeyRow & keyof KeyRequest)[]

const keptOf = (last: KeyRow): Pick<KeyRow, (typeof keptColumns)[number]> =>
  Object.fromEntries(keptColumns.map((name) => [name, last[name]])) as unknown as KeyRow

/** The settings of a new key: those of the last one, with its owner's changes. */
const wishLike = (
  acting: Actor,
  last: KeyRow | undefined,
  branch: KeyRow | undefined,
): KeyRequest => ({
  account: acting.account,
  actor: acting.wallet,
  acting,
  parentId: branch?.id,
  name: last?.name ?? 'Console',
  capLimit: min(last?.capLimit ?? defaultCap, branch?.capLimit ?? maxNusd),
  capWindow: last?.capWindow ?? 'day',
  scopes: last ? scopes.filter((scope) => last.scopes.includes(scope)) : ['runs:write'],
  ...(last && keptOf(last)),
})
