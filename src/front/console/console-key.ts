import { changeKey } from '../../access/keys/change.ts'
import { issueKey, type KeyWish } from '../../access/keys/issue.ts'
import {
  assertAddressAllowed,
  assertScope,
  assertUsable,
  type Caller,
  scopes,
  statusOf,
} from '../../access/keys/key.ts'
import { revokeKey } from '../../access/keys/revoke.ts'
import type { ShownKey } from '../../access/keys/shown-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Nusd, parseUsd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema.ts'

/**
 * The key that an account's console spends through: an ordinary root key, made at its first use,
 * whose secret nobody has. One that expired is made anew as it was; one that its owner revoked
 * only when they ask for it.
 */
export type KeyDeps = Pick<
  Deps,
  'accounts' | 'clock' | 'console' | 'ids' | 'keys' | 'ledger' | 'plans' | 'random'
>

/** What it may spend a day unless its owner says otherwise: $1. */
export const defaultCap: Nusd = 1_000_000_000n

/** The console's key as it is; undefined before its first use. */
export async function readKey(deps: KeyDeps, account: string): Promise<ShownKey | undefined> {
  const keyId = await deps.console.keyOf(account)
  return keyId === undefined ? undefined : deps.keys.show(keyId, deps.clock.now())
}

/**
 * Who pays for a run of the console, asked from `address`.
 * @throws Refusal `key_revoked`, `key_paused`, `scope_denied`, `ip_not_allowed`, or `conflict`
 * above the active keys of the plan.
 */
export async function payerOf(deps: KeyDeps, account: string, address: string): Promise<Caller> {
  const found = await readKey(deps, account)
  const isFresh = found === undefined || stateOf(deps, found) === 'expired'
  const { chain, key } = isFresh ? await openKey(deps, account, found) : found
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

const revokedWords = 'The key of the console was revoked. Make a new one to go on here.'
const pausedWords = 'The key of the console is paused. Resume it among your keys to go on here.'

/** A key in the place of one that is gone. One that still works is left as it is. */
export async function renewKey(deps: KeyDeps, account: string): Promise<ShownKey> {
  const found = await readKey(deps, account)
  const state = found && stateOf(deps, found)
  if (found && (state === 'usable' || state === 'paused')) return found
  return openKey(deps, account, found)
}

/**
 * Sets what the console may spend in a window of its key; a key is made if there is none.
 * @throws Refusal `invalid_request`, `conflict` below what was spent, and for a revoked key.
 */
export async function changeCap(deps: KeyDeps, account: string, cap: string): Promise<ShownKey> {
  const capLimit = parseUsd(cap.trim().replace(/^\$/, ''))
  if (capLimit === undefined || capLimit === 0n) {
    const message = 'Write the cap in dollars, above 0: 2.50.'
    refuse('invalid_request', { param: 'cap', message })
  }
  const found = await readKey(deps, account)
  const state = found && stateOf(deps, found)
  if (state === 'revoked') refuse('conflict', revokedWords)
  if (!found || state === 'expired') return openKey(deps, account, found, capLimit)
  await changeKey(deps, { keyId: found.key.id, actor: account, change: { capLimit } })
  return deps.keys.show(found.key.id, deps.clock.now())
}

const stateOf = ({ clock }: KeyDeps, { chain }: ShownKey) => statusOf(chain, clock.now())

/** Makes the key; whoever loses the race for its place revokes theirs and takes the winner's. */
async function openKey(
  deps: KeyDeps,
  account: string,
  before: ShownKey | undefined,
  capLimit?: Nusd,
): Promise<ShownKey> {
  const limit = capLimit === undefined ? {} : { capLimit }
  const { key } = await issueKey(deps, { ...wishLike(account, before?.key), ...limit })
  if (!(await deps.console.replaceKey(account, before?.key.id, key.id))) {
    await revokeKey(deps, { keyId: key.id, actor: account })
  }
  const now = await readKey(deps, account)
  if (!now) throw new Error('the console lost its key')
  return now
}

/** What a new key is to be: as the last one was, whatever its owner made of it. */
const wishLike = (account: string, last: KeyRow | undefined): KeyWish => ({
  account,
  actor: account,
  name: last?.name ?? 'Console',
  capLimit: last?.capLimit ?? defaultCap,
  capWindow: last?.capWindow ?? 'day',
  scopes: last ? scopes.filter((scope) => last.scopes.includes(scope)) : ['runs:write'],
  ...(last && {
    models: last.models,
    ipCidrs: last.ipCidrs,
    tags: last.tags,
    rpm: last.rpm,
    concurrency: last.concurrency,
    maxCostPerRun: last.maxCostPerRun,
  }),
})
