import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'
import type { Caller } from './key.ts'

/** Whether something is of the caller's key, or of a key below it. */
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

/** @throws Refusal `invalid_request` when `after` names nothing of the list that is asked for. */
export async function assertListed(
  deps: Pick<Deps, 'keys'>,
  caller: Caller,
  after: Promise<{ accountId: string; keyId: string } | undefined>,
): Promise<void> {
  const found = await after
  if (found && (await owns(deps, caller, found))) return
  const message = '"after" must be the id of an item of this list.'
  refuse('invalid_request', { param: 'after', message })
}
