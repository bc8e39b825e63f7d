/** The views over rows that are stored in two places: their SQL is in the migrations. */
import type { Columns } from './columns.ts'
import type { LedgerSide, TransferKind } from './schema-money.ts'

export type Views = ReturnType<typeof buildViews>

/** Tables to the query builder; nothing can be written to them. */
export function buildViews(c: Columns) {
  /** All movements of money: `transfers`, and the charges in `runs`. */
  const journal = c.table('journal', {
    accountId: c.text('account_id').notNull(),
    ref: c.text('ref').notNull(),
    kind: c.text('kind').$type<TransferKind>().notNull(),
    source: c.text('source').$type<LedgerSide>().notNull(),
    target: c.text('target').$type<LedgerSide>().notNull(),
    amount: c.money('amount').notNull(),
    at: c.ms('at').notNull(),
    seq: c.ms('seq').notNull(),
    balance: c.money('balance').notNull(),
  })

  return { journal }
}
