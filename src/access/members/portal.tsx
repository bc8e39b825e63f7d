/** The members of an account: their pages, `/api/portal/members`, and the switch of accounts. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, homes } from '../../kernel/acting.ts'
import { isId } from '../../kernel/ids.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { isAddress, toChecksumAddress } from '../../verify/address.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { writeCookie } from '../../web/http/cookies.ts'
import { readFields } from '../../web/http/fields.ts'
import { ConfirmPage } from '../../web/ui/confirm.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage, shownAt } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { toAccountId } from '../accounts/account.ts'
import { sessionAuth, wantsJson } from '../accounts/needs-session.ts'
import { accept } from './accept.ts'
import { actFor, actForOwn, type SessionSwitch } from './act-for.ts'
import { takeBack } from './invite.ts'
import { toInvitationView, toMemberView } from './member-view.ts'
import { switchApi } from './portal/act-for.ts'
import { inviteByPage, inviteByProgram } from './portal/invite.tsx'
import { MembersPage, membersPath, namePath, readMembers } from './portal/member-list.tsx'
import { askName } from './portal/member-name.tsx'
import { memberPages } from './portal/pages.tsx'
import { removeMember } from './remove.ts'
import { renameMember } from './rename.ts'
import { acceptBody, memberNameBody } from './shapes.ts'

/** Largest body, in bytes. */
const bodyBytes = 16_384

export const membersPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'members-portal' })
    .use(memberPages(deps, frame))
    .use(switchApi(deps))
    .use(memberActions(deps, frame))
    .use(ownActions(deps))

/** Routes of owners: list, invite, remove. */
const memberActions = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'member-actions' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/members',
      async ({ request, set, acting }) => {
        if (!wantsJson(request)) return listed(deps, { request, set }, acting)
        const { members, invitations } = await readMembers(deps, acting)
        return {
          object: 'members' as const,
          account: toChecksumAddress(acting.account),
          members: members.map(toMemberView),
          invitations: invitations.map(toInvitationView),
        }
      },
      { needsSession: { action: 'members:read' } },
    )
    .post(
      '/api/portal/members/invite',
      async ({ request, set, acting, session }) => {
        const sent = await readFields(request, { limitBytes: bodyBytes })
        if (wantsJson(request)) {
          set.status = 201
          return inviteByProgram(deps, acting, sent)
        }
        return inviteByPage(deps, { request, set, acting, session }, sent, (view) => {
          const main = <MembersPage view={view} />
          return dashboardPage({ frame, title: 'Members', here: membersPath, acting, main })
        })
      },
      { needsSession: { action: 'members:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/members/invitations/:id/revoke',
      async ({ request, set, acting, params }) => {
        if (!isId('inv', params.id)) refuse('not_found')
        await takeBack(deps, acting, params.id)
        if (wantsJson(request)) return { revoked: true }
        return listed(deps, { request, set }, acting)
      },
      { needsSession: { action: 'members:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/members/:address/name',
      async ({ request, set, acting, params }) => {
        const wallet = isAddress(params.address) ? toAccountId(params.address) : refuse('not_found')
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { name } = checkBody(memberNameBody, value)
        try {
          const member = await renameMember(deps, acting, { wallet, name })
          if (wantsJson(request)) return toMemberView(member)
        } catch (refusal) {
          if (!(refusal instanceof Refusal) || wantsJson(request)) throw refusal
          if (refusal.type === 'not_found') throw refusal
          const asked = askName({ wallet, name }, refusal)
          const main = <ConfirmPage head="Members" {...asked} />
          const page = dashboardPage({ frame, title: 'Members', here: membersPath, acting, main })
          const shown = shownAt(page, namePath(wallet))
          return reply({ request, set }, { page: shown, status: refusal.status })
        }
        const fragment = <MembersPage view={await readMembers(deps, acting)} />
        const done = { what: 'member_named' } as const
        return reply({ request, set }, { fragment, seeOther: membersPath, done })
      },
      { needsSession: { action: 'members:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/members/:address/remove',
      async ({ request, set, acting, params, session, visitor }) => {
        const wallet = isAddress(params.address) ? toAccountId(params.address) : refuse('not_found')
        const { member } = await removeMember(deps, acting, wallet)
        // An owner may remove themselves: their session then acts for their own account again.
        const isSelf = wallet === acting.wallet
        if (isSelf) setCookie(deps, { set }, await actForOwn(deps, session, visitor))
        if (wantsJson(request)) return toMemberView(member)
        if (isSelf)
          return reply({ request, set }, { fragment: <Switched />, seeOther: homes.owner })
        return listed(deps, { request, set }, acting)
      },
      { needsSession: { action: 'members:write' }, parse: 'none' },
    )

/** Routes of the signed-in wallet: accept an invitation, leave. */
const ownActions = (deps: Deps) =>
  new Elysia({ name: 'own-membership' })
    .use(sessionAuth(deps))
    .post(
      '/api/portal/members/accept',
      async ({ request, set, acting, session, visitor }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { token } = checkBody(acceptBody, value)
        const { wallet } = acting
        const member = await accept(deps, { wallet, token: token.trim() })
        if (wantsJson(request)) return toMemberView(member)
        const { accountId: account, role } = member
        setCookie(deps, { set }, await actFor(deps, session, { account, visitor }))
        return reply({ request, set }, { fragment: <Switched />, seeOther: homes[role] })
      },
      { needsSession: { action: 'self' }, parse: 'none' },
    )
    .post(
      '/api/portal/members/leave',
      async ({ request, set, acting, session, visitor }) => {
        const { member } = await removeMember(deps, acting, acting.wallet)
        setCookie(deps, { set }, await actForOwn(deps, session, visitor))
        if (wantsJson(request)) return toMemberView(member)
        return reply({ request, set }, { fragment: <Switched />, seeOther: homes.owner })
      },
      { needsSession: { action: 'self' }, parse: 'none' },
    )

/** Redirects htmx as a whole page, because the open page still shows the previous account. */
const Switched = () => (
  <p>
    This session acts for another account now. <a href="/dashboard">Go there</a>
  </p>
)

async function listed(deps: Deps, context: ReplyContext, acting: Actor) {
  const view = await readMembers(deps, acting)
  return reply(context, { fragment: <MembersPage view={view} />, seeOther: membersPath })
}

function setCookie(
  { settings, clock }: Pick<Deps, 'settings' | 'clock'>,
  { set }: Pick<ReplyContext, 'set'>,
  { session, token }: SessionSwitch,
): void {
  const maxAgeS = Math.max(1, Math.floor((session.expiresAt - clock.now()) / 1000))
  set.headers['set-cookie'] = writeCookie('sid', token, { baseUrl: settings.baseUrl, maxAgeS })
}
