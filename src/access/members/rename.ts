/** Names a member: what its account calls it beside the address of its wallet. */
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { MemberRow } from '../../storage/db/schema/schema.ts'
import { assertStillMember } from '../membership.ts'
import { peopleOf, peopleRows } from '../people-rows.ts'
import { assertOwnName, readName } from './member-name.ts'

/**
 * Gives a member a name; an empty text takes it away.
 * @throws Refusal `invalid_request` with `param`, `not_found`
 */
export async function renameMember(
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  acting: Actor,
  { wallet, name: typed }: { wallet: string; name: string },
): Promise<MemberRow> {
  const { account } = acting
  return ledger.post({
    account,
    keys: [],
    parts: [peopleRows.of(account)],
    decide(unit) {
      assertStillMember(unit, acting)
      const people = peopleOf(unit, account)
      const member = people.members.find((one) => one.wallet === wallet)
      if (!member) return refuse('not_found', 'This wallet is not a member of the account.')
      const name = readName(typed)
      if (member.name === name) return { ...member }
      const others = people.members.filter((one) => one !== member)
      if (name !== null) assertOwnName(name, others)
      people.renameMember(member, name)
      unit.addAudit({
        id: ids.make('req'),
        at: unit.now,
        actor: acting.wallet,
        action: 'member.rename',
        accountId: account,
        subject: wallet,
        detail: { name },
      })
      return { ...member }
    },
  })
}
