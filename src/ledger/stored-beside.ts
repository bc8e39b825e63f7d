/** Counts what an account stores past the ledger, without money, on its budget of free writes. */
import { definePart } from './part.ts'
import type { Ledger } from './post.ts'

/** Rows that another transaction stores; here they are only counted. */
export const rowsBeside = definePart({
  name: 'rows beside the ledger',
  rank: 90,
  empty: (): unknown[] => [],
  kept: (rows) => rows,
})

/**
 * Takes room for rows that another transaction stores next, such as an entry of the audit.
 * @throws Refusal `rate_limited` where the budget is used up
 */
export const takeFreeWrites = (
  ledger: Ledger,
  account: string,
  ...rows: readonly unknown[]
): Promise<void> =>
  ledger.post({
    account,
    keys: [],
    decide: (unit) => void unit.part(rowsBeside).push(...rows),
  })
