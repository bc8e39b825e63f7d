/** Reads the journal of one account. */
import { and, asc, desc, eq, gte, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { type Page, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/db.ts'
import { first, type Query, rows, type Work } from '../../storage/db/query-steps.ts'
import { besideMax, dayMs, dayOf, type LedgerDay, type Movement, type Place } from './movement.ts'

/** The journal of one account. Every read goes along an index, from one place on. */
export type StatementStore = {
  /** One page of lines, newest first. */
  list(account: string, page: { limit: number; after: Place | undefined }): Promise<Page<Movement>>
  find(account: string, place: Place): Promise<Movement | undefined>
  /** The last days with any line, newest first, from before a day on. */
  days(account: string, before: Millis | undefined, limit: number): Promise<LedgerDay[]>
  /** At most `limit` lines after a place, oldest first, up to the one numbered `last`. */
  following(
    account: string,
    after: Place | undefined,
    last: number,
    limit: number,
  ): Promise<Movement[]>
}

export function statementStore(db: Db): StatementStore {
  const { transfers } = db.tables
  const { accountId, ref, kind, at, seq, amount, balance, source, target } = transfers
  const columns = { ref, kind, at, seq, amount, balance, source, target }
  /** Some lines are about other people's money: what the operator lost, for instance. */
  const isOwn = or(eq(source, 'user'), eq(target, 'user'))

  const select = (q: Query) => q.select(columns).from(transfers)

  const lastBefore = (q: Query, account: string, before: Millis | undefined) => {
    const earlier = before === undefined ? undefined : lt(at, before)
    const own = select(q).where(and(eq(accountId, account), earlier))
    return first(own.orderBy(desc(at), desc(seq)).limit(1))
  }

  const besideRuns = (q: Query, account: string, day: Millis) => {
    const within = and(gte(at, day), lt(at, day + dayMs))
    const own = select(q).where(and(eq(accountId, account), ne(kind, sql`'run'`), within))
    return rows(own.orderBy(desc(at), desc(seq)).limit(besideMax))
  }

  return {
    list: async (account, { limit, after }) => {
      const beyond = after && sql`(${at}, ${seq}) < (${after.at}, ${after.seq})`
      const found = await db.read((q) =>
        rows(
          select(q)
            .where(and(eq(accountId, account), beyond, isOwn))
            .orderBy(desc(at), desc(seq))
            .limit(limit + 1),
        ),
      )
      return toPage(found, limit)
    },
    find: (account, place) =>
      db.read((q) => {
        const there = and(eq(accountId, account), eq(at, place.at), eq(seq, place.seq))
        return first(select(q).where(there))
      }),
    days: (account, before, limit) =>
      db.read(function* (q): Work<LedgerDay[]> {
        const days: LedgerDay[] = []
        let close = yield* lastBefore(q, account, before)
        while (close && days.length < limit) {
          const day = dayOf(close.at)
          const beside = yield* besideRuns(q, account, day)
          const open: Movement | undefined = yield* lastBefore(q, account, day)
          days.push({ day, close, open, beside })
          close = open
        }
        return days
      }),
    following: (account, after, last, limit) =>
      db.read((q) => {
        const beyond = after && sql`(${at}, ${seq}) > (${after.at}, ${after.seq})`
        const upTo = and(eq(accountId, account), beyond, lte(seq, last))
        return rows(select(q).where(and(upTo, isOwn)).orderBy(asc(at), asc(seq)).limit(limit))
      }),
  }
}
