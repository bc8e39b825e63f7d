/** Lists the deposits of an account. */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import { refuseField } from '../../kernel/refusal.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'

/**
 * Newest first.
 * @throws Refusal 'invalid_request' unless `after` is one of them
 */
export async function listDeposits(
  { deposits }: Pick<Deps, 'deposits'>,
  account: string,
  page: PageRequest,
): Promise<Page<DepositRow>> {
  const { after } = page
  const named = after !== undefined && isId('dep', after) ? await deposits.find(after) : undefined
  if (after !== undefined && named?.account !== account) {
    refuseField('after', 'There is no such deposit.')
  }
  return deposits.list(account, page)
}
