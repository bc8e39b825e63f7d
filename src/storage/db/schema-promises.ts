/** Tables of what the service promised: quotes. */
import { sql } from 'drizzle-orm'
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

  return { quotes }
}
