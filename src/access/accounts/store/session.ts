/** SQL of {@link Sessions}. A change of a session and its audit entry are one write. */
import { and, desc, eq, gt, inArray, lt, lte, ne, or, type SQL } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { toPage } from '../../../kernel/pagination.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { SessionRow } from '../../../storage/db/schema/schema.ts'
import { first, insert, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { idleMs, type Sessions, seenEveryMs } from '../session.ts'
import { findSession } from './found-session.ts'
import { writeZone } from './time-zone.ts'

/** Rows deleted in one transaction, which other writers wait for. */
const dropBatch = 1000

export function sessionStore(db: Db): Sessions {
  const { sessions, auditEntries } = db.tables

  const live = (now: Millis) =>
    and(gt(sessions.expiresAt, now), gt(sessions.lastSeenAt, now - idleMs))

  function* drop(q: Query, which: SQL | undefined): Work<SessionRow[]> {
    return yield* rows(q.delete(sessions).where(which).returning())
  }

  return {
    open: (session, replaced, audit) =>
      db.write(function* (q) {
        if (replaced !== undefined) yield* drop(q, eq(sessions.tokenHash, replaced))
        yield* insert(sessions, [session])
        yield* insert(auditEntries, [audit])
      }),
    replace: (session, replaced, audit) =>
      db.write(function* (q) {
        const gone = yield* drop(q, eq(sessions.id, replaced))
        if (gone.length === 0) return false
        yield* insert(sessions, [session])
        yield* insert(auditEntries, [audit])
        return true
      }),
    find: (tokenHash) => db.read((q) => findSession(q, db.tables, tokenHash)),
    get: (accountId, id, now) =>
      db.read((q) => {
        const named = and(eq(sessions.id, id), eq(sessions.accountId, accountId), live(now))
        return first(q.select().from(sessions).where(named))
      }),
    setZone: (wallet, zone) => writeZone(db, wallet, zone),
    liveAmong: (ids, now) =>
      db.read((q) => {
        const named = and(inArray(sessions.id, ids), live(now))
        return rows(q.select({ id: sessions.id }).from(sessions).where(named))
      }),
    list: (accountId, page, now) =>
      db.read(function* (q) {
        const own = and(
          eq(sessions.accountId, accountId),
          live(now),
          page.after === undefined ? undefined : lt(sessions.id, page.after),
        )
        const found = q.select().from(sessions).where(own).orderBy(desc(sessions.id))
        return toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
      }),
    noteSeen: (id, now) =>
      db.write((q) =>
        rows(
          q
            .update(sessions)
            .set({ lastSeenAt: now })
            .where(and(eq(sessions.id, id), lte(sessions.lastSeenAt, now - seenEveryMs)))
            .returning({ id: sessions.id }),
        ),
      ),
    end: (session, audit) =>
      db.write(function* (q) {
        const own = and(eq(sessions.id, session.id), eq(sessions.accountId, session.accountId))
        const gone = yield* drop(q, own)
        if (gone.length > 0) yield* insert(auditEntries, [audit])
        return gone.length > 0
      }),
    endOthers: (kept, audit) =>
      db.write(function* (q) {
        const others = and(eq(sessions.accountId, kept.accountId), ne(sessions.id, kept.id))
        const gone = yield* drop(q, others)
        if (gone.length > 0) yield* insert(auditEntries, [audit])
        return gone.length
      }),
    note: (audit) =>
      db.write(function* () {
        yield* insert(auditEntries, [audit])
      }),
    async dropEnded(now) {
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
