/** SQL of {@link QuoteStore}; the ledger adds and uses them. */
import { and, eq, gt, inArray, lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'
import type { QuoteStore } from './quotes.ts'

/** Quotes deleted in one transaction: runs that end wait for it. */
const dropBatch = 500

export function quoteStore(db: Db): QuoteStore {
  const { quotes } = db.tables
  return {
    find: (id) => db.read((q) => first(q.select().from(quotes).where(eq(quotes.id, id)))),
    byDigest: (digest) =>
      db.read((q) => first(q.select().from(quotes).where(eq(quotes.digest, digest)))),
    countOpen: async (account, now) => {
      const n = sql<number>`cast(count(*) as integer)`
      const own = and(eq(quotes.accountId, account), gt(quotes.expiresAt, now))
      const counted = await db.read((q) => first(q.select({ n }).from(quotes).where(own)))
      return Number(counted?.n ?? 0)
    },
    dropPast: async ({ used, unused }) => {
      const named = { digest: quotes.digest }
      const drop = (isPast: SQL | undefined) =>
        db.write(function* (q) {
          const past = q.select(named).from(quotes).where(isPast)
          const due = (yield* rows(past.limit(dropBatch))).map(({ digest }) => digest)
          if (due.length === 0) return 0
          const isDue = and(inArray(quotes.digest, due), isPast)
          yield* rows(q.delete(quotes).where(isDue).returning(named))
          return due.length
        })
      // As SQL text, or the partial index is not used.
      const isUnused = and(sql`${quotes.used} = 0`, lte(quotes.expiresAt, unused))
      while ((await drop(isUnused)) === dropBatch);
      while ((await drop(lte(quotes.expiresAt, used))) === dropBatch);
    },
  }
}
