/** SQL of {@link Members}. */
import { and, asc, count, desc, eq, gt } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'
import { type Members, peopleMax } from './member.ts'

export function memberStore(db: Db): Members {
  const { members, invitations } = db.tables
  return {
    list: (account) =>
      db.read((q) => {
        const listed = q.select().from(members).where(eq(members.accountId, account))
        return rows(listed.orderBy(asc(members.id)).limit(peopleMax))
      }),
    find: (account, wallet) =>
      db.read((q) => {
        const named = and(eq(members.accountId, account), eq(members.wallet, wallet))
        return first(q.select().from(members).where(named))
      }),
    countOf: async (wallet) => {
      const found = await db.read((q) =>
        first(q.select({ n: count() }).from(members).where(eq(members.wallet, wallet))),
      )
      return Number(found?.n ?? 0)
    },
    invitations: (account, now) =>
      db.read((q) => {
        const open = and(eq(invitations.accountId, account), gt(invitations.expiresAt, now))
        const listed = q.select().from(invitations).where(open)
        return rows(listed.orderBy(desc(invitations.id)).limit(peopleMax))
      }),
    invitation: (tokenHash) =>
      db.read((q) => {
        const named = eq(invitations.tokenHash, tokenHash)
        return first(q.select().from(invitations).where(named))
      }),
  }
}
