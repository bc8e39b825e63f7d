/** Invites a wallet to act for an account, and revokes invitations. */
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, type Role, roles } from '../../kernel/acting.ts'
import { type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { CapWindow } from '../../ledger/window.ts'
import type { InvitationRow } from '../../storage/db/schema/schema.ts'
import { hashToken, newToken } from '../accounts/session.ts'
import { boundCap, boundModels } from '../keys/bounds.ts'
import { assertStillMember } from '../membership.ts'
import { peopleOf, peopleRows } from '../people-rows.ts'
import { invitationLifeMs, peopleMax } from './member.ts'

/** `cap` and `models` are the limits of a developer's branch. */
export type InviteRequest = {
  role: string
  cap?: { limit: Nusd; window: CapWindow } | undefined
  models?: readonly string[] | undefined
}

/**
 * Creates an invitation and returns its token, which is not stored.
 * @throws Refusal `invalid_request` with `param`, `conflict` above the open invitations
 */
export async function invite(
  { ledger, random, ids }: Pick<Deps, 'ledger' | 'random' | 'ids'>,
  acting: Actor,
  wish: InviteRequest,
): Promise<{ row: InvitationRow; token: string }> {
  const limits = limitsOf(wish)
  const token = newToken(random)
  const { account, wallet } = acting
  const row = await ledger.post({
    account,
    keys: [],
    parts: [peopleRows.of(account)],
    decide(unit) {
      assertStillMember(unit, acting)
      const people = peopleOf(unit, account)
      for (const late of people.invitations.filter(({ expiresAt }) => expiresAt <= unit.now)) {
        people.removeInvitation(late)
      }
      if (people.invitations.length + people.members.length >= peopleMax) {
        const message = `An account has at most ${peopleMax} members and open invitations.`
        refuse('conflict', `${message} Remove one first.`)
      }
      const row: InvitationRow = {
        id: ids.make('inv'),
        tokenHash: hashToken(token),
        accountId: account,
        ...limits,
        createdBy: wallet,
        createdAt: unit.now,
        expiresAt: unit.now + invitationLifeMs,
      }
      people.addInvitation(row)
      unit.addAudit({
        id: ids.make('req'),
        at: unit.now,
        actor: wallet,
        action: 'member.invite',
        accountId: account,
        subject: row.id,
        detail: toDetail(row),
      })
      return { ...row }
    },
  })
  return { row, token }
}

/**
 * Revokes an open invitation: its link is dead at the commit.
 * @throws Refusal `not_found`, also for one that was used
 */
export async function takeBack(
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  acting: Actor,
  id: string,
): Promise<void> {
  const { account, wallet } = acting
  await ledger.post({
    isExempt: true,
    account,
    keys: [],
    parts: [peopleRows.of(account)],
    decide(unit) {
      assertStillMember(unit, acting)
      const people = peopleOf(unit, account)
      const row = people.invitations.find((one) => one.id === id)
      if (!row) return refuse('not_found', 'There is no such invitation, or it was used.')
      people.removeInvitation(row)
      unit.addAudit({
        id: ids.make('req'),
        at: unit.now,
        actor: wallet,
        action: 'member.uninvite',
        accountId: account,
        subject: row.id,
        detail: toDetail(row),
      })
    },
  })
}

type Limits = Pick<InvitationRow, 'role' | 'capLimit' | 'capWindow' | 'models'>

/** @throws Refusal `invalid_request` with `param` */
function limitsOf({ role: named, cap, models = [] }: InviteRequest): Limits {
  const role: Role =
    roles.find((one) => one === named) ?? refuseField('role', `The roles are: ${roles.join(', ')}.`)
  if (role === 'developer') {
    if (!cap) {
      return refuseField(
        'cap',
        "Send the cap of the developer's branch: all their keys spend below it.",
      )
    }
    const capLimit = boundCap(cap.limit, undefined)
    return { role, capLimit, capWindow: cap.window, models: boundModels(models, undefined) }
  }
  if (cap || models.length > 0) {
    const message = 'Only developers have a branch with a cap and models.'
    refuse('invalid_request', { param: cap ? 'cap' : 'models', message })
  }
  return { role, capLimit: null, capWindow: null, models: [] }
}

const toDetail = ({ role, capLimit, capWindow, models }: Limits) => ({
  role,
  ...(capLimit === null || capWindow === null
    ? {}
    : { cap_limit_nusd: toJsonInteger(capLimit), cap_window: capWindow, models: [...models] }),
})
