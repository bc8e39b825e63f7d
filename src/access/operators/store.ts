/** SQL of {@link OperatorTokens}. */
import { and, asc, eq, isNull, or } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { first, insert, rows } from '../../storage/db/sql/query-steps.ts'
import type { OperatorTokens } from './tokens.ts'

export function operatorTokenStore(db: Db): OperatorTokens {
  const { operatorTokens: tokens, auditEntries } = db.tables
  const live = (id: string) => and(eq(tokens.id, id), isNull(tokens.revokedAt))
  return {
    add: (token, audit) =>
      db.write(function* () {
        yield* insert(tokens, [token])
        yield* insert(auditEntries, [audit])
      }),
    findByHash: (hash) =>
      db.read((q) => {
        const named = or(eq(tokens.hash, hash), eq(tokens.oldHash, hash))
        return first(q.select().from(tokens).where(named))
      }),
    find: (id) => db.read((q) => first(q.select().from(tokens).where(eq(tokens.id, id)))),
    list: () => db.read((q) => rows(q.select().from(tokens).orderBy(asc(tokens.id)))),
    revoke: (id, at, audit) =>
      db.write(function* (q) {
        const changed = q.update(tokens).set({ revokedAt: at }).where(live(id))
        const found = yield* rows(changed.returning({ id: tokens.id }))
        if (found.length > 0) yield* insert(auditEntries, [audit])
        return found.length > 0
      }),
    rotate: (id, { from, hash, oldUntil }, audit) =>
      db.write(function* (q) {
        const own = and(live(id), eq(tokens.hash, from))
        const changed = q.update(tokens).set({ hash, oldHash: from, oldUntil }).where(own)
        const found = yield* rows(changed.returning({ id: tokens.id }))
        if (found.length > 0) yield* insert(auditEntries, [audit])
        return found.length > 0
      }),
    noteUse: (id, at, audit) =>
      db.write(function* (q) {
        const used = q.update(tokens).set({ lastUsedAt: at }).where(eq(tokens.id, id))
        yield* rows(used.returning({ id: tokens.id }))
        yield* insert(auditEntries, [audit])
      }),
  }
}
