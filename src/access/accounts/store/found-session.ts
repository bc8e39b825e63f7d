/** Finds the session of a cookie, and whom it acts for. */
import { and, eq } from 'drizzle-orm'
import { type Actor, ownerOf } from '../../../kernel/acting.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { MemberRow } from '../../../storage/db/schema/schema.ts'
import { prepared, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { FoundSession } from '../session.ts'

/** A membership is read each time, so that it ends at the commit that removes it, on every node. */
export function* findSession(
  q: Query,
  { sessions, accounts, accountSettings, members }: Db['tables'],
  tokenHash: string,
): Work<FoundSession | undefined> {
  const [found] = yield* prepared('session_by_token', { tokenHash }, (v) =>
    q
      .select({
        session: sessions,
        status: accounts.status,
        timeZone: accountSettings.timeZone,
      })
      .from(sessions)
      .innerJoin(accounts, eq(accounts.id, sessions.accountId))
      .leftJoin(accountSettings, eq(accountSettings.accountId, sessions.accountId))
      .where(eq(sessions.tokenHash, v.tokenHash)),
  )
  if (!found) return undefined
  const { accountId: wallet, memberId } = found.session
  const { session, timeZone } = found
  const zone = timeZone ?? undefined
  if (memberId === null) {
    return { session, status: found.status, acting: { ...ownerOf(wallet), zone } }
  }
  const [other] = yield* prepared('session_member', { memberId, wallet }, (v) =>
    q
      .select({ member: members, status: accounts.status })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.accountId))
      .where(and(eq(members.id, v.memberId), eq(members.wallet, v.wallet))),
  )
  if (!other) return undefined
  const status = found.status === 'active' ? other.status : found.status
  return { session, status, acting: { ...actingOf(other.member), zone } }
}

const actingOf = ({ id, accountId, wallet, role, branch }: MemberRow): Actor => ({
  wallet,
  account: accountId,
  role,
  member: id,
  branch: branch ?? undefined,
})
