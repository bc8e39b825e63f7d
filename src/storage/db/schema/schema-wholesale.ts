/** Tables of what runs cost the operator. */
import type { Columns } from './columns.ts'

/** Tables of the operator's costs. No route of an account reads them. */
export function wholesaleTables(c: Columns) {
  /** The cost of a run to the operator, if the route step that answered it has a `cost`. */
  const runCosts = c.table('run_costs', {
    runId: c.text('run_id').primaryKey(),
    cost: c.money('cost').notNull(),
  })

  /** Runs with such a cost, summed up by the day (UTC) they ended on, from the log. */
  const marginDays = c.table(
    'margin_days',
    {
      day: c.ms('day').notNull(),
      model: c.text('model').notNull(),
      accountId: c.text('account_id').notNull(),
      runs: c.ms('runs').notNull(),
      revenue: c.money('revenue').notNull(),
      cost: c.money('cost').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.day, t.model, t.accountId] })],
  )

  return { runCosts, marginDays }
}
