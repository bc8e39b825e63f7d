/** Names a member: what its account calls it beside the address of its wallet. */
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { MemberRow } from '../../storage/db/schema/schema.ts'
import { assertStillMember } from '../membership.ts'
import { peopleOf, peopleRows } from '../people-rows.ts'

export const nameMax = 40

/**
 * Gives a member a name; an empty text takes it away.
 * @throws Refusal `invalid_request` with `param`, `not_found`
 */
export async function renameMember(
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  acting: Actor,
  { wallet, name: typed }: { wallet: string; name: string },
): Promise<MemberRow> {
  const name = readName(typed)
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
      if (member.name === name) return { ...member }
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

function readName(typed: string): string | null {
  const name = typed.trim()
  if ([...name].length > nameMax || /[\p{Cc}\p{Cf}]/u.test(name)) {
    refuseField('name', `A name has at most ${nameMax} characters, on one line.`)
  }
  return name || null
}
