/** The members and invitations of an account, as a batch of commands reads and changes them. */
import { inArray } from 'drizzle-orm'
import { definePart } from '../ledger/part.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'
import type { InvitationRow, MemberRow } from '../storage/db/schema/schema.ts'
import { insert, remove, rows, update } from '../storage/db/sql/query-steps.ts'

/** Loaded for a command that names them; the lock of the account keeps others from changes. */
export type People = {
  members: readonly MemberRow[]
  /** Unused invitations; one may have expired. */
  invitations: readonly InvitationRow[]
  addMember(row: MemberRow): void
  renameMember(row: MemberRow, name: string | null): void
  /** Also deletes every session that acts by this membership. */
  removeMember(row: MemberRow): void
  addInvitation(row: InvitationRow): void
  removeInvitation(row: InvitationRow): void
}

/** The changes of one account that the store writes. */
type PeopleChanges = {
  joined: MemberRow[]
  renamed: MemberRow[]
  left: MemberRow[]
  invited: InvitationRow[]
  spent: InvitationRow[]
}

type TrackedPeople = People & { changes: PeopleChanges }

/** Later commands of the batch see what earlier ones changed. */
function trackPeople(members: MemberRow[], invitations: InvitationRow[]): TrackedPeople {
  const changes: PeopleChanges = { joined: [], renamed: [], left: [], invited: [], spent: [] }
  return {
    members,
    invitations,
    changes,
    addMember(row) {
      members.push(row)
      changes.joined.push(row)
    },
    renameMember(row, name) {
      row.name = name
      if (!changes.joined.includes(row)) changes.renamed.push(row)
    },
    removeMember(row) {
      members.splice(members.indexOf(row), 1)
      drop(changes.joined, changes.left, row)
    },
    addInvitation(row) {
      invitations.push(row)
      changes.invited.push(row)
    },
    removeInvitation(row) {
      invitations.splice(invitations.indexOf(row), 1)
      drop(changes.invited, changes.spent, row)
    },
  }
}

/** Notes a removal; a row that this batch added is then never written. */
function drop<Row>(added: Row[], removed: Row[], row: Row): void {
  const at = added.indexOf(row)
  if (at < 0) removed.push(row)
  else added.splice(at, 1)
}

/** By account. Never cached, because members seldom change. */
export const peopleRows = definePart({
  name: 'members',
  rank: 40,
  empty: () => new Map<string, TrackedPeople>(),
  *load({ q, tables: { members, invitations } }, people, ids: readonly string[]) {
    const accounts = [...new Set(ids)]
    const joined = yield* rows(q.select().from(members).where(inArray(members.accountId, accounts)))
    const isInvited = inArray(invitations.accountId, accounts)
    const invited = yield* rows(q.select().from(invitations).where(isInvited))
    const isOf = (account: string) => (row: { accountId: string }) => row.accountId === account
    for (const id of accounts) {
      people.set(id, trackPeople(joined.filter(isOf(id)), invited.filter(isOf(id))))
    }
  },
  *write({ q, tables: { members, invitations, sessions } }, people) {
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
      const kept = changes.renamed.filter(({ id }) => !left.includes(id))
      yield* update(members, kept, ['name'])
      yield* insert(members, changes.joined)
    }
  },
})

/** The members of an account and its invitations. @throws Error if the command did not name them */
export function peopleOf(unit: UnitOfWork, account: string): People {
  const people = unit.part(peopleRows).get(account)
  if (!people) throw new Error(`the members of ${account} were not loaded`)
  return people
}
