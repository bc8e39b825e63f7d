/** The money that a key may know of: the account's where it stands for it, else its own. */
import type { Nusd } from '../kernel/money.ts'
import type { KeyRow } from '../storage/db/schema/schema.ts'

/** Whether a key stands for its whole account: it has no parent and is not of a member's branch. */
export const isRoot = ({ parentId, branch }: Pick<KeyRow, 'parentId' | 'branch'>): boolean =>
  parentId === null && branch === null

/**
 * The held money that a refusal shows to a key whose runs need a purse. Others hold of the account
 * and of keys above as well: a key below learns only what its own runs hold.
 * @param purse what is held of the purse
 * @param own what the key's own window holds
 */
export const toldHeld = (
  key: Pick<KeyRow, 'parentId' | 'branch'>,
  { purse, own }: { purse: Nusd; own: Nusd },
): Nusd => (isRoot(key) ? purse : own)
