import { and, desc, eq, gt, inArray, lt, lte, ne, or } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { type Page, type PageRequest, toPage } from '../../../kernel/pagination.ts'
import {
  type Db,
  first,
  insert,
  prepared,
  type Query,
  rows,
  type Work,
} from '../../../storage/db/db.ts'
import type { AccountRow, AuditRow, SessionRow } from '../../../storage/db/schema.ts'
import { idleMs, seenEveryMs } from '../session.ts'

export type SessionStore = ReturnType<typeof sessionStore>

/** A session, and whether its account may act. */
export type FoundSession = { session: SessionRow; status: AccountRow['status'] }

/** Rows deleted in one transaction: others wait for it. */
const dropBatch = 1000

/** Who is signed in. What happens to a session and what the audit says of it is one write. */
export function sessionStore(db: Db) {
  const { sessions, accounts, auditEntries } = db.tables

  const live = (now: Millis) =>
    and(gt(sessions.expiresAt, now), gt(sessions.lastSeenAt, now - idleMs))

  function* drop(q: Query, which: ReturnType<typeof and>): Work<SessionRow[]> {
    return yield* rows(q.delete(sessions).where(which).returning())
  }

  return {
    /** Opens one, and ends the one that the browser had before. */
    open: (session: SessionRow, replaced: string | undefined, audit: AuditRow): Promise<void> =>
      db.write(function* (q) {
        if (replaced !== undefined) yield* drop(q, eq(sessions.tokenHash, replaced))
        yield* insert(sessions, [session])
        yield* insert(auditEntries, [audit])
      }),
    /** The session of a token's hash, live or not yet swept. */
    find: async (tokenHash: string): Promise<FoundSession | undefined> => {
      const [found] = await db.read((q) =>
        prepared('session_by_token', { tokenHash }, (v) =>
          q
            .select({ session: sessions, status: accounts.status })
            .from(sessions)
            .innerJoin(accounts, eq(accounts.id, sessions.accountId))
            .where(eq(sessions.tokenHash, v.tokenHash)),
        ),
      )
      return found
    },
    /** One live session of an account, by its id. */
    get: (accountId: string, id: string, now: Millis): Promise<SessionRow | undefined> =>
      db.read((q) => {
        const named = and(eq(sessions.id, id), eq(sessions.accountId, accountId), live(now))
        return first(q.select().from(sessions).where(named))
      }),
    /** Those of some sessions, by their ids, that are live. */
    liveAmong: (ids: string[], now: Millis): Promise<{ id: string }[]> =>
      db.read((q) => {
        const named = and(inArray(sessions.id, ids), live(now))
        return rows(q.select({ id: sessions.id }).from(sessions).where(named))
      }),
    /** The live sessions of an account, newest first. */
    list: (accountId: string, page: PageRequest, now: Millis): Promise<Page<SessionRow>> =>
      db.read(function* (q) {
        const own = and(
          eq(sessions.accountId, accountId),
          live(now),
          page.after === undefined ? undefined : lt(sessions.id, page.after),
        )
        const found = q.select().from(sessions).where(own).orderBy(desc(sessions.id))
        return toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
      }),
    /** Notes that a session is used; of many requests at once one writes. */
    noteSeen: (id: string, now: Millis): Promise<unknown> =>
      db.write((q) =>
        rows(
          q
            .update(sessions)
            .set({ lastSeenAt: now })
            .where(and(eq(sessions.id, id), lte(sessions.lastSeenAt, now - seenEveryMs)))
            .returning({ id: sessions.id }),
        ),
      ),
    /** Ends one session of an account; tells whether it was there. */
    end: (session: Pick<SessionRow, 'id' | 'accountId'>, audit: AuditRow): Promise<boolean> =>
      db.write(function* (q) {
        const own = and(eq(sessions.id, session.id), eq(sessions.accountId, session.accountId))
        const gone = yield* drop(q, own)
        if (gone.length > 0) yield* insert(auditEntries, [audit])
        return gone.length > 0
      }),
    /** Ends all sessions of an account but one, and tells how many. */
    endOthers: (kept: Pick<SessionRow, 'id' | 'accountId'>, audit: AuditRow): Promise<number> =>
      db.write(function* (q) {
        const others = and(eq(sessions.accountId, kept.accountId), ne(sessions.id, kept.id))
        const gone = yield* drop(q, others)
        if (gone.length > 0) yield* insert(auditEntries, [audit])
        return gone.length
      }),
    /** Keeps what did not become a session. */
    note: (audit: AuditRow): Promise<void> =>
      db.write(function* () {
        yield* insert(auditEntries, [audit])
      }),
    dropEnded: async (now: Millis): Promise<void> => {
      const dropSome = () =>
        db.write(function* (q) {
          const ended = or(lte(sessions.expiresAt, now), lte(sessions.lastSeenAt, now - idleMs))
          const due = q.select({ id: sessions.id }).from(sessions).where(ended).limit(dropBatch)
          return (yield* drop(q, inArray(sessions.id, due))).length
        })
      while ((await dropSome()) === dropBatch);
    },
  }
}
