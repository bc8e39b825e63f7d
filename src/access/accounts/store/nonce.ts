import { and, asc, count, eq, gt, inArray, lte } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { type Db, first, insert, type Query, rows, type Work } from '../../../storage/db/db.ts'
import type { NonceRow } from '../../../storage/db/schema.ts'

export type NonceStore = ReturnType<typeof nonceStore>

/** Rows deleted in one transaction: others wait for it. */
const dropBatch = 1000

/** Sign-ins that were begun. At most `max` are kept: a flood drops the oldest ones. */
export function nonceStore(db: Db, max = 100_000) {
  const { signInNonces } = db.tables
  // Counting at each one would cost more than the rest, so some room is made at once.
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

  function* drop(q: Query, which: ReturnType<typeof and>): Work<number> {
    const gone = q.delete(signInNonces).where(which).returning({ nonce: signInNonces.nonce })
    return (yield* rows(gone)).length
  }

  return {
    add: (row: NonceRow): Promise<void> =>
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
    /** One that this browser asked for and that is still good. */
    find: (nonce: string, browserHash: string, now: Millis): Promise<NonceRow | undefined> =>
      db.read((q) =>
        first(
          q
            .select()
            .from(signInNonces)
            .where(byBrowser(nonce, browserHash, now)),
        ),
      ),
    /** Uses it up, and tells whether it was there to be used: true for one caller only. */
    take: (nonce: string, browserHash: string, now: Millis): Promise<boolean> =>
      db.write(function* (q) {
        return (yield* drop(q, byBrowser(nonce, browserHash, now))) > 0
      }),
    dropExpired: async (now: Millis): Promise<void> => {
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
