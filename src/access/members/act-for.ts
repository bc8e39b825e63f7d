/** Changes which account a session acts for. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { accountMark } from '../../kernel/shard.ts'
import type { SessionRow } from '../../storage/db/schema/schema.ts'
import { hashToken, newToken, type Visitor } from '../accounts/session.ts'
import { auditOf } from '../accounts/sign-in.ts'

type Needs = Pick<Deps, 'members' | 'sessions' | 'random' | 'clock' | 'ids' | 'shard'>

/** A session that replaces another one, and the value of its cookie. */
export type SessionSwitch = { session: SessionRow; token: string }

/**
 * Replaces this session by one that acts for `account`, with a new id and cookie, because rights
 * never change within a session. Runs and streams of the old session end with it.
 * @throws Refusal `not_found` unless it is the own account or one with a membership,
 * `session_required` if the session ended meanwhile.
 */
export async function actFor(
  deps: Needs,
  from: SessionRow,
  { account, visitor }: { account: string; visitor: Visitor },
): Promise<SessionSwitch> {
  const wallet = from.accountId
  const member = account === wallet ? undefined : await deps.members.find(account, wallet)
  if (account !== wallet && !member) {
    const message = 'There is no such account, or you are not a member of it.'
    refuse('not_found', { message, param: 'account' })
  }
  const { session, token } = renewed(deps, from, member?.id ?? null)
  const audit = auditOf(deps, visitor, {
    action: 'session.act_for',
    accountId: account,
    actor: wallet,
    subject: session.id,
  })
  if (!(await deps.sessions.replace(session, from.id, audit))) refuse('session_required')
  return { session, token }
}

/**
 * Opens a session for the own account after a member left: the old one ended with the membership.
 */
export async function actForOwn(
  deps: Needs,
  from: SessionRow,
  visitor: Visitor,
): Promise<SessionSwitch> {
  const { session, token } = renewed(deps, from, null)
  const what = { action: 'session.act_for', accountId: from.accountId, subject: session.id }
  await deps.sessions.open(session, undefined, auditOf(deps, visitor, what))
  return { session, token }
}

/** A copy of the session with a new id, cookie and membership. */
function renewed(
  { random, ids, clock, shard }: Pick<Needs, 'random' | 'ids' | 'clock' | 'shard'>,
  from: SessionRow,
  memberId: string | null,
): SessionSwitch {
  const token = newToken(random, accountMark(shard, from.accountId))
  const tokenHash = hashToken(token)
  const id = ids.make('sess')
  return { token, session: { ...from, id, tokenHash, lastSeenAt: clock.now(), memberId } }
}
