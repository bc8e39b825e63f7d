/** Decides which keys, runs and receipts belong to a caller or an account. */
import type { Deps } from '../../app/deps-port.ts'
import type { KeyScope } from '../../kernel/acting.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import type { Caller } from './key.ts'

/** Whether a run or receipt belongs to the caller's key or to one below it. */
export async function owns(
  { keys }: Pick<Deps, 'keys'>,
  caller: Caller,
  thing: { accountId: string; keyId: string },
): Promise<boolean> {
  if (caller.account !== thing.accountId) return false
  if (caller.key.id === thing.keyId) return true
  const key = await keys.find(thing.keyId)
  return key?.lineage.includes(caller.key.id) ?? false
}

/**
 * The caller's own key, also named `self`, or a key below it.
 * @throws Refusal `not_found`, the same for missing keys and those of others
 */
export async function findOwnKey(
  { keys }: Pick<Deps, 'keys'>,
  caller: Caller,
  id: string,
): Promise<KeyRow> {
  const wanted = id === 'self' ? caller.key.id : id
  const key = isId('key', wanted) ? await keys.find(wanted) : undefined
  if (key?.accountId === caller.account && key.lineage.includes(caller.key.id)) return key
  refuse('not_found', 'There is no such key.')
}

/** Whether a key belongs to an account, or to the branch of it that a member has. */
export const isKeyOf = (
  { accountId, branch: branchOf }: Pick<KeyRow, 'accountId' | 'branch'>,
  { account, branch }: KeyScope,
): boolean => accountId === account && (branch === undefined || branchOf === branch)

/** Whether a run or receipt belongs to an account, or to the branch of it that a member has. */
export async function isOf(
  { keys }: Pick<Deps, 'keys'>,
  thing: { accountId: string; keyId: string },
  whose: KeyScope,
): Promise<boolean> {
  if (thing.accountId !== whose.account) return false
  if (whose.branch === undefined) return true
  const key = await keys.find(thing.keyId)
  return key !== undefined && isKeyOf(key, whose)
}

/**
 * A key of an account, for who may act for it.
 * @throws Refusal `not_found`, the same for missing keys and those of others
 */
export async function findAccountKey(
  { keys }: Pick<Deps, 'keys'>,
  whose: KeyScope,
  id: string,
): Promise<KeyRow> {
  const key = isId('key', id) ? await keys.find(id) : undefined
  if (key && isKeyOf(key, whose)) return key
  refuse('not_found', 'There is no such key.')
}

/**
 * A key that may be changed: of a branch not the one at its top, which is its owner's limit.
 * @throws Refusal `not_found`, `role_denied`
 */
export async function findOwnedKey(
  deps: Pick<Deps, 'keys'>,
  whose: KeyScope,
  id: string,
): Promise<KeyRow> {
  const key = await findAccountKey(deps, whose, id)
  if (key.id !== whose.branch) return key
  refuse('role_denied', 'An owner of the account sets the limits of your branch. Ask one.')
}

/** @throws Refusal `invalid_request` unless `after` is an item of the caller's list */
export async function assertListed(
  deps: Pick<Deps, 'keys'>,
  caller: Caller,
  after: Promise<{ accountId: string; keyId: string } | undefined>,
): Promise<void> {
  const found = await after
  if (found && (await owns(deps, caller, found))) return
  refuseField('after', '"after" must be the id of an item of this list.')
}
