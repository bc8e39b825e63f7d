/** The pages of members: the list, accepting an invitation, and confirmations. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { type Actor, homes } from '../../../kernel/acting.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import type { InvitationRow, MemberRow } from '../../../storage/db/schema/schema.ts'
import { isAddress } from '../../../verify/address.ts'
import { queryOf, readText } from '../../../web/http/query.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Confirm, ConfirmPage } from '../../../web/ui/confirm.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../../web/ui/layout.tsx'
import { Facts, Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import { reply, sendOn } from '../../../web/ui/reply.ts'
import { roleWords } from '../../../web/ui/switcher.tsx'
import { DayOf } from '../../../web/ui/when.tsx'
import { toAccountId } from '../../accounts/account.ts'
import { sessionAuth } from '../../accounts/needs-session.ts'
import { countAffected, type RevocationImpact } from '../../keys/affected.ts'
import { findInvitation } from '../accept.ts'
import { readWithLink } from './invite.tsx'
import {
  acceptPath,
  leavePath,
  limitsText,
  MembersPage,
  membersPath,
  readMembers,
} from './member-list.tsx'
import { askName } from './member-name.tsx'

export const memberPages = (deps: Deps, frame: Frame) => {
  const page = (acting: Actor, main: Markup, title = 'Members') =>
    dashboardPage({ frame, title, here: membersPath, acting, main })
  const affected = (branch: string | null): Promise<RevocationImpact | undefined> =>
    branch === null ? Promise.resolve(undefined) : countAffected(deps, branch)

  return new Elysia({ name: 'member-pages' })
    .use(sessionAuth(deps))
    .get(
      membersPath,
      async ({ request, set, acting, session }) => {
        const view = await readWithLink(deps, { request, set, acting, session })
        const main = <MembersPage view={view} />
        return reply({ request, set }, { page: page(acting, main) })
      },
      { needsSession: { page: 'self' } },
    )
    .get(
      acceptPath,
      async ({ request, set, acting }) => {
        const token = readText(queryOf(request), 'token') ?? ''
        const found = await findInvitation(deps, token).catch(refusalOf)
        const { wallet } = acting
        if (found instanceof Refusal) {
          const main = <DeadLink acting={acting} refusal={found} />
          return reply({ request, set }, { page: page(acting, main), status: found.status })
        }
        const known = await deps.members.find(found.accountId, wallet)
        const isMember = known !== undefined || found.accountId === wallet
        const main = <AcceptPage {...{ acting, token, invitation: found, isMember }} />
        return reply({ request, set }, { page: page(acting, main, 'Invitation') })
      },
      { needsSession: { page: 'self' } },
    )
    .get(
      leavePath,
      async ({ request, set, acting }) => {
        const { own } = await readMembers(deps, acting)
        if (!own) return sendOn({ set }, membersPath)
        const main = <LeavePage acting={acting} affected={await affected(own.branch)} />
        return reply({ request, set }, { page: page(acting, main) })
      },
      { needsSession: { page: 'self' } },
    )
    .get(
      `${membersPath}/:address/name`,
      async ({ request, set, acting, params }) => {
        const wallet = isAddress(params.address) ? toAccountId(params.address) : refuse('not_found')
        const found = (await deps.members.find(acting.account, wallet)) ?? refuse('not_found')
        const asked = askName(found)
        const main = <ConfirmPage head="Members" {...asked} />
        return reply(
          { request, set },
          { page: page(acting, main), fragment: <Confirm {...asked} /> },
        )
      },
      { needsSession: { page: 'members:write' } },
    )
    .get(
      `${membersPath}/:address/remove`,
      async ({ request, set, acting, params }) => {
        const wallet = isAddress(params.address) ? toAccountId(params.address) : refuse('not_found')
        const found = (await deps.members.find(acting.account, wallet)) ?? refuse('not_found')
        const main = <RemovePage member={found} affected={await affected(found.branch)} />
        return reply({ request, set }, { page: page(acting, main) })
      },
      { needsSession: { page: 'members:write' } },
    )
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

type AcceptProps = {
  acting: Actor
  token: string
  invitation: InvitationRow
  /** Whether the wallet acts for that account already. */
  isMember: boolean
}

/** Names the wallet that the membership will be bound to, which may be the wrong one. */
const AcceptPage = ({ acting: { wallet }, token, invitation, isMember }: AcceptProps) => (
  <>
    <PageHead title="Invitation" />
    <Panel id="accept" title="Join an account">
      <Pad>
        <Facts
          of={[
            ['Account', <Address value={invitation.accountId} />],
            ['Your role', roleWords[invitation.role]],
            ...(invitation.capLimit === null
              ? []
              : [['Your branch of keys', limitsText(invitation)] as const]),
            ['Your wallet', <Address value={wallet} />],
            ['Works until', <DayOf at={invitation.expiresAt} />],
          ]}
        />
        {isMember ? (
          <p>
            <strong>This wallet acts for that account already.</strong> To use the link with another
            wallet, sign out and open it again.
          </p>
        ) : (
          <>
            <p>
              The invitation is for one wallet: the one you are signed in with. To accept with
              another wallet, sign out and open the link again.
            </p>
            <ActionForm action="/api/portal/members/accept">
              <input type="hidden" name="token" value={token} />
              <Button look="go">Accept with this wallet</Button>
              <ButtonLink look="plain" href="/dashboard">
                Not now
              </ButtonLink>
            </ActionForm>
          </>
        )}
      </Pad>
    </Panel>
  </>
)

const DeadLink = ({ acting, refusal }: { acting: Actor; refusal: Refusal }) => (
  <>
    <PageHead title="Invitation" />
    <Panel id="accept" title="This link does not work">
      <Empty
        hash={acting.wallet}
        title={refusal.message}
        action={<ButtonLink href={homes[acting.role]}>Go on without it</ButtonLink>}
      >
        A link makes one wallet a member, within seven days.
      </Empty>
    </Panel>
  </>
)

type EndProps = { affected: RevocationImpact | undefined }

const RemovePage = ({ member: { wallet, name }, affected }: EndProps & { member: MemberRow }) => (
  <ConfirmPage
    head="Members"
    id="remove"
    title={name === null ? 'Remove this member?' : `Remove ${name}?`}
    consequence={
      <>
        <Address value={wallet} /> can no longer act for this account: <strong>at once</strong>, in
        every browser. {branchWords(affected)}
      </>
    }
    action={`/api/portal/members/${wallet}/remove`}
    button="Remove member"
    keep="Cancel"
    keepHref={membersPath}
  />
)

const LeavePage = ({ acting, affected }: EndProps & { acting: Actor }) => (
  <ConfirmPage
    head="Members"
    id="leave"
    title="Leave this account?"
    consequence={
      <>
        You can no longer act for <Address value={acting.account} />, <strong>at once</strong> and
        in every browser. {branchWords(affected)} Only an owner can invite you again.
      </>
    }
    action="/api/portal/members/leave"
    button="Leave the account"
    keep="Cancel"
    keepHref={membersPath}
  />
)

function branchWords(affected: RevocationImpact | undefined): string {
  if (!affected) return 'No key is revoked.'
  const { keysBelow, runsInFlight } = affected
  const keys = keysBelow === 1 ? '1 key' : `${keysBelow} keys`
  const runs = runsInFlight === 1 ? '1 run' : `${runsInFlight} runs`
  return `The branch with its ${keys} is revoked for good; ${runs} in progress stop.`
}
