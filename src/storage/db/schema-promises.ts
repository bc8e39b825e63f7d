/** Tables of what the service promised: quotes, and what it says it owes. */
import { sql } from 'drizzle-orm'
import type { Liabilities } from '../../verify/liabilities.ts'
import type { Quote } from '../../verify/quote.ts'
import type { Columns } from './columns.ts'

export function promiseTables(c: Columns) {
  /** A quote as it was signed, and how many runs began with it that were charged or go on. */
  const quotes = c.table(
    'quotes',
    {
      /** By which a receipt names it: `0x` and 64 hex digits. */
      digest: c.text('digest').primaryKey(),
      id: c.text('id').notNull(),
      /** Whose key asked for it. */
      accountId: c.text('account_id').notNull(),
      keyId: c.text('key_id').notNull(),
      quote: c.json<Quote>('quote').notNull(),
      signature: c.bytes('signature').notNull(),
      uses: c.int('uses').notNull(),
      used: c.int('used').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('quotes_by_id').on(t.id),
      c.index('quotes_by_account').on(t.accountId, t.expiresAt),
      // The job that deletes old ones.
      c.index('quotes_by_end').on(t.expiresAt),
      c.check('quotes_used', sql`${t.used} >= 0 and ${t.used} <= ${t.uses}`),
    ],
  )

  /** Debts to all accounts at one moment, as they were signed. Never deleted. */
  const liabilities = c.table('liabilities', {
    number: c.ms('number').primaryKey(),
    statement: c.json<Liabilities>('statement').notNull(),
    digest: c.text('digest').notNull(),
    signature: c.bytes('signature').notNull(),
    /** Of its leaf, among those of all logs. */
    logPlace: c.ms('log_place').notNull(),
    asOf: c.ms('as_of').notNull(),
    /** Blinds the ids of its accounts; null once its parts were deleted. */
    seed: c.bytes('seed'),
  })

  /**
   * The leaves of its tree, 256 a row in the order of their ids; row 0 has the nodes above them.
   * Rows of a number that `liabilities` has not are of one that did not come about.
   */
  const liabilityParts = c.table(
    'liability_parts',
    {
      number: c.ms('number').notNull(),
      part: c.int('part').notNull(),
      bytes: c.bytes('bytes').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.number, t.part] })],
  )

  return { quotes, liabilities, liabilityParts }
}
