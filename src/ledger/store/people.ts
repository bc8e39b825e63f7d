/** Loads and writes the members and invitations that a batch of commands changes. */
import { inArray } from 'drizzle-orm'
import { insert, type Query, remove, rows, type Work } from '../../storage/db/query-steps.ts'
import type { Tables } from '../../storage/db/schema.ts'
import { type TrackedPeople, trackPeople } from '../people.ts'

/** Requires the locks of the accounts. Never cached, because members seldom change. */
export function* loadPeople(
  q: Query,
  { members, invitations }: Pick<Tables, 'members' | 'invitations'>,
  accounts: readonly string[],
): Work<Map<string, TrackedPeople>> {
  const ids = [...accounts]
  const joined = yield* rows(q.select().from(members).where(inArray(members.accountId, ids)))
  const invited = yield* rows(
    q.select().from(invitations).where(inArray(invitations.accountId, ids)),
  )
  const of = <Row extends { accountId: string }>(found: Row[], account: string): Row[] =>
    found.filter(({ accountId }) => accountId === account)
  return new Map(ids.map((id) => [id, trackPeople(of(joined, id), of(invited, id))]))
}

export function* writePeople(
  q: Query,
  { members, invitations, sessions }: Pick<Tables, 'members' | 'invitations' | 'sessions'>,
  people: ReadonlyMap<string, TrackedPeople>,
): Work<void> {
  for (const { changes } of people.values()) {
    const left = changes.left.map(({ id }) => id)
    yield* remove(
      invitations,
      changes.spent.map(({ id }) => ({ id })),
    )
    yield* remove(
      members,
      left.map((id) => ({ id })),
    )
    if (left.length > 0) {
      yield* rows(q.delete(sessions).where(inArray(sessions.memberId, left)).returning())
    }
    yield* insert(invitations, changes.invited)
    yield* insert(members, changes.joined)
  }
}
