/** The members and invitations of an account, as a batch of commands reads and changes them. */
import type { InvitationRow, MemberRow } from '../storage/db/schema.ts'

/** Loaded for a command with `people`; the lock of the account keeps others from changing them. */
export type People = {
  members: readonly MemberRow[]
  /** Unused invitations; one may have expired. */
  invitations: readonly InvitationRow[]
  addMember(row: MemberRow): void
  /** Also deletes every session that acts by this membership. */
  removeMember(row: MemberRow): void
  addInvitation(row: InvitationRow): void
  removeInvitation(row: InvitationRow): void
}

/** The changes of one account that the store writes. */
export type PeopleChanges = {
  joined: MemberRow[]
  left: MemberRow[]
  invited: InvitationRow[]
  spent: InvitationRow[]
}

export type TrackedPeople = People & { changes: PeopleChanges }

/** Later commands of the batch see what earlier ones changed. */
export function trackPeople(members: MemberRow[], invitations: InvitationRow[]): TrackedPeople {
  const changes: PeopleChanges = { joined: [], left: [], invited: [], spent: [] }
  return {
    members,
    invitations,
    changes,
    addMember(row) {
      members.push(row)
      changes.joined.push(row)
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

/** Returns the members of an account. @throws Error if the command did not name it */
export function loadedPeople(
  all: ReadonlyMap<string, TrackedPeople> | undefined,
  account: string,
): People {
  const people = all?.get(account)
  if (!people) throw new Error(`the members of ${account} were not loaded`)
  return people
}
