/** Sums the whole ledger: balances, holds and sides. */
import type { Nusd } from '../../kernel/money.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { LedgerSide } from '../../storage/db/schema/schema-money.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'
import { wideSum } from '../../storage/db/sql/wide-sum.ts'

/** All balances and holds, and what each side received less what it paid, in nano-USD. */
export type LedgerSums = { balance: Nusd; held: Nusd; sides: Partial<Record<LedgerSide, Nusd>> }

/** The totals of the whole ledger. The sides add up to zero, and `user` is all balances. */
export function sumLedger(db: Db): Promise<LedgerSums> {
  const { accounts } = db.tables
  const { journal } = db.views
  return db.read(function* (q) {
    const [all] = yield* rows(
      q.select({ balance: wideSum(accounts.balance), held: wideSum(accounts.held) }).from(accounts),
    )
    const { source, target, amount } = journal
    const moved = yield* rows(
      q
        .select({ source, target, amount: wideSum(amount) })
        .from(journal)
        .groupBy(source, target),
    )
    const sides: LedgerSums['sides'] = {}
    for (const one of moved) {
      sides[one.source] = (sides[one.source] ?? 0n) - one.amount
      sides[one.target] = (sides[one.target] ?? 0n) + one.amount
    }
    return { balance: all?.balance ?? 0n, held: all?.held ?? 0n, sides }
  })
}
