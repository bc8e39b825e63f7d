/** SQL of {@link Nonces}. */
import { and, asc, count, eq, gt, inArray, lte, type SQL } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { first, insert, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { Nonces } from '../nonce.ts'

/** Rows deleted in one transaction, which other writers wait for. */
const dropBatch = 1000

/** Keeps at most `max` nonces: a flood drops the oldest. */
export function nonceStore(db: Db, max = 100_000): Nonces {
  const { signInNonces } = db.tables
  // Counting at each insert would cost more than the insert: room is made for several at once.
  const slack = Math.min(dropBatch, Math.ceil(max / 10))
  let sinceCounted = slack

  const byBrowser = (nonce: string, browserHash: string, now: Millis) =>
    and(
      eq(signInNonces.nonce, nonce),
      eq(signInNonces.browserHash, browserHash),
      gt(signInNonces.expiresAt, now),
    )

  function* dropOldest(q: Query, many: number): Work<number> {
    const oldest = q
      .select({ nonce: signInNonces.nonce })
      .from(signInNonces)
      .orderBy(asc(signInNonces.expiresAt))
      .limit(many)
    return yield* drop(q, inArray(signInNonces.nonce, oldest))
  }

  function* drop(q: Query, which: SQL | undefined): Work<number> {
    const gone = q.delete(signInNonces).where(which).returning({ nonce: signInNonces.nonce })
    return (yield* rows(gone)).length
  }

  return {
    add: (row) =>
      db.write(function* (q) {
        sinceCounted++
        if (sinceCounted > slack) {
          sinceCounted = 1
          const [held] = yield* rows(q.select({ n: count() }).from(signInNonces))
          const over = Number(held?.n ?? 0) - (max - slack)
          if (over > 0) yield* dropOldest(q, over)
        }
        yield* insert(signInNonces, [row])
      }),
    find: (nonce, browserHash, now) =>
      db.read((q) =>
        first(
          q
            .select()
            .from(signInNonces)
            .where(byBrowser(nonce, browserHash, now)),
        ),
      ),
    take: (nonce, browserHash, now) =>
      db.write(function* (q) {
        return (yield* drop(q, byBrowser(nonce, browserHash, now))) > 0
      }),
    async dropExpired(now) {
      const dropSome = () =>
        db.write(function* (q) {
          const due = q
            .select({ nonce: signInNonces.nonce })
            .from(signInNonces)
            .where(lte(signInNonces.expiresAt, now))
            .limit(dropBatch)
          return yield* drop(q, inArray(signInNonces.nonce, due))
        })
      while ((await dropSome()) === dropBatch);
    },
  }
}
