/** Counts what an account stores past the ledger, without money, on its budget of free writes. */
import type { Ledger } from './post.ts'

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
    decide: (unit) => unit.addBeside(rows),
  })
