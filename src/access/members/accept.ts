/** Makes the wallet that accepts an invitation a member, with a branch of keys for a developer. */
import type { Deps } from '../../app/deps-port.ts'
import { maxNusd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { InvitationRow, KeyRow, MemberRow } from '../../storage/db/schema/schema.ts'
import { hashToken, isToken } from '../accounts/session.ts'
import { assertInPlan } from '../keys/issue.ts'
import { maxLifeMs, scopes } from '../keys/key.ts'
import { noLimits } from '../keys/key-limits.ts'
import { noteKey, toDetail } from '../keys/note.ts'
import { fingerprintOf, hashSecret, makeSecret } from '../keys/secret.ts'
import { peopleOf, peopleRows } from '../people-rows.ts'
import { membershipsMax } from './member.ts'

type Needs = Pick<Deps, 'ledger' | 'members' | 'plans' | 'random' | 'ids' | 'clock'>

/**
 * Finds the open invitation of a token.
 * @throws Refusal `not_found`, the same for a token that is unknown, used, revoked or expired
 */
export async function findInvitation(
  { members, clock }: Pick<Needs, 'members' | 'clock'>,
  token: string,
): Promise<InvitationRow> {
  const found = isToken(token) ? await members.invitation(hashToken(token)) : undefined
  if (found && found.expiresAt > clock.now()) return found
  return refuseInvitation()
}

/**
 * Accepts an invitation. It works once: the first wallet to accept becomes the member.
 * @throws Refusal `not_found`, or `conflict` for the account itself, for one that is a member, and
 * above the active keys of the plan or the memberships of a wallet.
 */
export async function accept(
  deps: Needs,
  { wallet, token }: { wallet: string; token: string },
): Promise<MemberRow> {
  const { ledger, members, ids } = deps
  const invitation = await findInvitation(deps, token)
  const { accountId: account } = invitation
  if ((await members.countOf(wallet)) >= membershipsMax) {
    refuse('conflict', `A wallet is a member of at most ${membershipsMax} accounts. Leave one.`)
  }
  return ledger.post({
    account,
    mints: true,
    keys: [],
    parts: [peopleRows.of(account)],
    decide(unit) {
      const people = peopleOf(unit, account)
      const row = people.invitations.find(({ id }) => id === invitation.id)
      if (!row || row.expiresAt <= unit.now) return refuseInvitation()
      if (wallet === account) {
        refuse('conflict', 'This account is your own. The link is for another wallet.')
      }
      if (people.members.some((one) => one.wallet === wallet)) {
        refuse('conflict', 'You are a member of this account already. Leave it first.')
      }
      const branch = row.role === 'developer' ? openBranch(deps, unit, row, wallet) : null
      const member: MemberRow = {
        id: ids.make('mem'),
        accountId: account,
        wallet,
        role: row.role,
        name: null,
        branch,
        consoleKeyId: null,
        invitedBy: row.createdBy,
        createdAt: unit.now,
      }
      people.removeInvitation(row)
      people.addMember(member)
      unit.addAudit({
        id: ids.make('req'),
        at: unit.now,
        actor: wallet,
        action: 'member.join',
        accountId: account,
        subject: wallet,
        detail: { role: row.role, invitation: row.id, branch },
      })
      return { ...member }
    },
  })
}

function refuseInvitation(): never {
  refuse('not_found', 'This invitation does not exist, was used, or has expired. Ask for another.')
}

/**
 * Adds the top key of a branch: every key of the developer hangs below it. Its secret is not shown.
 * @throws Refusal `conflict`
 */
function openBranch(
  { plans, random, ids }: Pick<Needs, 'plans' | 'random' | 'ids'>,
  unit: UnitOfWork,
  { accountId, capLimit, capWindow, models }: InvitationRow,
  wallet: string,
): string {
  const account = unit.account(accountId)
  if (!account) throw new Error('an invitation to an account that does not exist')
  const id = ids.make('key')
  const hash = hashSecret(makeSecret(random))
  const row: KeyRow = {
    id,
    accountId,
    parentId: null,
    lineage: [id],
    branch: id,
    name: `Branch of ${wallet.slice(0, 6)}…${wallet.slice(-4)}`,
    fingerprint: fingerprintOf(hash),
    secretBy: wallet,
    capLimit: capLimit ?? maxNusd,
    capWindow: capWindow ?? 'lifetime',
    ...noLimits,
    scopes: [...scopes],
    models,
    ipCidrs: [],
    tags: {},
    passport: '',
    childrenCount: 0,
    createdAt: unit.now,
    expiresAt: unit.now + maxLifeMs,
    ...{ pausedAt: null, pausedReason: null, leakAnsweredAt: null },
    ...{ revokedAt: null, revokedBy: null, lastUsedAt: null },
  }
  assertInPlan(plans.of(account, unit.now), unit.activeKeys(accountId), row)
  unit.addKey(row, { hash, keyId: id, validUntil: null, selfRotated: false })
  const detail = { parent_id: null, fingerprint: row.fingerprint, ...toDetail(row) }
  noteKey(unit, ids, row, { actor: wallet, action: 'key.create', detail })
  return id
}
