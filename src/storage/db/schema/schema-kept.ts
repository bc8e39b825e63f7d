/** The table of responses that a next turn can name. */
import type { Columns } from './columns.ts'

export function keptTables(c: Columns) {
  /**
   * Parts of answers that a later request can name by id: an item of an answer, or the answer
   * itself with the input of its turn. All of a run share its `until`, which a use puts off.
   */
  const keptItems = c.table(
    'kept_items',
    {
      accountId: c.text('account_id').notNull(),
      /** As the answer named it; ids of model servers need not be unique. */
      id: c.text('id').notNull(),
      runId: c.text('run_id').notNull(),
      /** The key of the run and those above it: no other key finds the row. */
      keys: c.json<string[]>('keys').notNull(),
      /** JSON, encrypted. */
      sealed: c.bytes('sealed').notNull(),
      /** The size of the JSON before encryption, plus a share for the row. */
      bytes: c.int('bytes').notNull(),
      until: c.ms('until').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.accountId, t.id, t.runId] }),
      c.index('kept_items_by_run').on(t.runId),
      c.index('kept_items_by_end').on(t.until),
      // Sums up an account, and finds its oldest, without its rows.
      c.index('kept_items_by_account').on(t.accountId, t.until, t.runId, t.bytes),
    ],
  )

  return { keptItems }
}
