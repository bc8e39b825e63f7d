/** Finds in SQL the keys of an account, or those of one branch of it. */
import { eq, type SQL } from 'drizzle-orm'
import type { KeyScope } from '../../../kernel/acting.ts'
import type { Tables } from '../schema/schema.ts'

/** By the index of the branch or of the account; a branch belongs to one account. */
export const inKeyScope = (
  { accountId, branch: branchOf }: Tables['keys'],
  { account, branch }: KeyScope,
): SQL => (branch === undefined ? eq(accountId, account) : eq(branchOf, branch))
