/** An account as its operator sees it, in a page's JSON and in the operator API. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { AccountRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'

/** Most keys of an account that are counted. */
const keysMost = 1000

/** How many keys are not revoked; `more than …` where there are more than are counted. */
export async function countKeys({ admin }: Pick<Deps, 'admin'>, id: string): Promise<string> {
  const { all, open } = await admin.keyCount(id, keysMost)
  return all < keysMost ? String(open) : `more than ${open}`
}

export const toAccountView = (row: AccountRow) => ({
  id: row.id,
  object: 'account' as const,
  account: toChecksumAddress(row.id),
  status: row.status,
  plan: row.plan,
  balance_nusd: toJsonInteger(row.balance),
  held_nusd: toJsonInteger(row.held),
  created_at: toRfc3339(row.createdAt),
})
