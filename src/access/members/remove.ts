/** Ends a membership: its branch, its sessions and its rights, in one command. */
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { MemberRow } from '../../storage/db/schema/schema.ts'
import { noteKey } from '../keys/note.ts'
import { assertStillMember } from '../membership.ts'
import { peopleOf, peopleRows } from '../people-rows.ts'

type Needs = Pick<Deps, 'ledger' | 'keys' | 'ids' | 'members'>

/** `stopped` counts the keys of the branch that worked until then. */
export type MemberRemoval = { member: MemberRow; stopped: number }

/**
 * Removes a member, or lets one leave. At the commit every key of the branch and every open
 * invitation by the member is revoked, and every session that acts by the membership has ended;
 * runs in flight stop as those of a revoked key.
 * @throws Refusal `not_found`, and `conflict` for the account's own wallet
 */
export async function removeMember(
  deps: Needs,
  acting: Actor,
  wallet: string,
): Promise<MemberRemoval> {
  const { ledger, keys, ids, members } = deps
  const { account } = acting
  if (wallet === account) {
    refuse('conflict', "The account's own wallet always stays its owner.")
  }
  const branch = (await members.find(account, wallet))?.branch ?? undefined
  const removed = await ledger.post({
    isExempt: true,
    account,
    keys: branch === undefined ? [] : [branch],
    ...(branch === undefined ? {} : { below: branch }),
    parts: [peopleRows.of(account)],
    decide(unit) {
      assertStillMember(unit, acting)
      const people = peopleOf(unit, account)
      const member = people.members.find((one) => one.wallet === wallet)
      if (!member) return refuse('not_found', 'This wallet is not a member of the account.')
      // The member was removed and invited again meanwhile, so the loaded branch is another one.
      if ((member.branch ?? undefined) !== branch) return refuse('conflict')
      const all = branch === undefined ? [] : unit.below(branch)
      const live = all.filter((key) => key.revokedAt === null)
      for (const key of live) {
        unit.revokeKey(key, acting.wallet)
        if (key.id !== branch) continue
        const detail = { stopped: live.length }
        noteKey(unit, ids, key, { actor: acting.wallet, action: 'key.revoke', detail })
      }
      people.removeMember(member)
      // An owner may hold open links of their own, by which another of their wallets could join.
      const links = people.invitations.filter(({ createdBy }) => createdBy === wallet)
      for (const link of links) people.removeInvitation(link)
      unit.addAudit({
        id: ids.make('req'),
        at: unit.now,
        actor: acting.wallet,
        action: wallet === acting.wallet ? 'member.leave' : 'member.remove',
        accountId: account,
        subject: wallet,
        detail: {
          role: member.role,
          branch: member.branch,
          keys_revoked: live.length,
          invitations_revoked: links.length,
        },
      })
      return { member: { ...member }, stopped: live.length }
    },
  })
  // Other nodes drop its callers and stop its runs.
  if (branch === undefined) keys.forgetAccount(account)
  else keys.forget(branch)
  return removed
}
