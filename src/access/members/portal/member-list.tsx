/** The page of members: who may act for the account, who is invited, and the form to invite. */
import type { Deps } from '../../../app/deps-port.ts'
import { type Actor, may, type Role, roles } from '../../../kernel/acting.ts'
import type { Millis } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { InvitationRow, MemberRow } from '../../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { Address } from '../../../web/ui/address.tsx'
import { amountText } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Facts, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { SideLink, SidePanel } from '../../../web/ui/side-panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { roleSentences, roleWords } from '../../../web/ui/switcher.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { DayOf, When } from '../../../web/ui/when.tsx'
import { InvitePanel } from './invite-form.tsx'

export const membersPath = '/dashboard/members'
export const acceptPath = `${membersPath}/accept`
export const leavePath = `${membersPath}/leave`
export const namePath = (wallet: string): string =>
  `${membersPath}/${toChecksumAddress(wallet)}/name`
export const removePath = (wallet: string): string =>
  `${membersPath}/${toChecksumAddress(wallet)}/remove`

/** The fields as typed, to show them again with an error. */
export type InviteDraft = Readonly<Record<string, string>>

export type MembersView = {
  acting: Actor
  now: Millis
  /** Empty for roles that may not see them. */
  members: readonly MemberRow[]
  invitations: readonly InvitationRow[]
  /** The membership of the viewer; undefined in the own account. */
  own: MemberRow | undefined
  /** An invitation that was just made: its link is shown once. */
  made?: { link: string; role: Role; expiresAt: Millis }
  draft?: InviteDraft
  refusal?: Refusal
}

export async function readMembers(
  { members, clock }: Pick<Deps, 'members' | 'clock'>,
  acting: Actor,
): Promise<MembersView> {
  const { account, wallet } = acting
  const now = clock.now()
  const sees = may(acting, 'members:read')
  return {
    acting,
    now,
    members: sees ? await members.list(account) : [],
    invitations: sees ? await members.invitations(account, now) : [],
    own: account === wallet ? undefined : await members.find(account, wallet),
  }
}

export const MembersPage = ({ view }: { view: MembersView }) => {
  const { acting, made, own } = view
  const mayInvite = may(acting, 'members:write')
  return (
    <>
      <PageHead title="Members">
        <p class="quiet">Other wallets that act for this account, each with a role.</p>
      </PageHead>
      {made ? <LinkPanel made={made} /> : null}
      {own ? <OwnPanel own={own} members={view.members} /> : null}
      {may(acting, 'members:read') ? <MembersPanel view={view} /> : null}
      {view.invitations.length > 0 ? <InvitationsPanel view={view} /> : null}
      <Split>
        {mayInvite ? (
          <InvitePanel sent={{ draft: view.draft ?? {}, refusal: view.refusal }} />
        ) : (
          <RolesPanel />
        )}
        {mayInvite ? <RolesPanel /> : null}
      </Split>
    </>
  )
}

/** Shown once, because the server stores only the hash of the token. */
const LinkPanel = ({
  made: { link, role, expiresAt },
}: {
  made: NonNullable<MembersView['made']>
}) => (
  <Panel id="invited" title="Send this link to one person">
    <Pad>
      <CopyBox id="invitation" label="The link of the invitation" value={link} strong />
      <p>
        The first wallet that accepts it becomes {withArticle(role)} of this account. The link ends
        on <DayOf at={expiresAt} />.
      </p>
      <p class="quiet">
        <small>
          The link is shown once. If it is lost, revoke the invitation and create another.
        </small>
      </p>
    </Pad>
  </Panel>
)

const withArticle = (role: Role): string => {
  const word = role === 'billing' ? 'billing member' : role
  return role === 'owner' ? `an ${word}` : `a ${word}`
}

type NamedProps = { wallet: string; members: readonly MemberRow[] }

/** A wallet, with its name before it where it is one of these members. */
function Named({ wallet, members }: NamedProps) {
  const name = members.find((one) => one.wallet === wallet)?.name
  return (
    <>
      {name ? (
        <>
          <strong class="name" dir="auto">
            {name}
          </strong>{' '}
        </>
      ) : null}
      <Address value={wallet} />
    </>
  )
}

type OwnProps = { own: MemberRow; members: readonly MemberRow[] }

const OwnPanel = ({ own, members }: OwnProps) => (
  <Panel
    id="own"
    title="Your membership"
    aside={
      <ButtonLink small look="bad" href={leavePath}>
        Leave this account
      </ButtonLink>
    }
  >
    <Pad>
      <Facts
        of={[
          ['Role', `${roleWords[own.role]}: ${roleSentences[own.role]}.`],
          ...(own.branch === null
            ? []
            : [
                [
                  'Your branch',
                  <a href={`/dashboard/keys/${own.branch}`}>Its cap and keys</a>,
                ] as const,
              ]),
          ['Invited by', <Named wallet={own.invitedBy} members={members} />],
          ['Since', <DayOf at={own.createdAt} />],
        ]}
      />
    </Pad>
  </Panel>
)

function MembersPanel({ view: { acting, members, now } }: { view: MembersView }) {
  const mayRemove = may(acting, 'members:write')
  const columns: Column<MemberRow>[] = [
    { head: 'Member', cell: (member) => <Who member={member} acting={acting} /> },
    { head: 'Role', at: 'state', cell: ({ role }) => <Badge>{roleWords[role]}</Badge> },
    {
      head: 'Branch',
      kind: 'optional',
      cell: ({ branch }) => (branch ? <a href={`/dashboard/keys/${branch}`}>Keys</a> : '–'),
    },
    { head: 'Since', at: 'when', cell: ({ createdAt }) => <When at={createdAt} now={now} /> },
    {
      head: 'Action',
      kind: 'unnamed',
      at: 'act',
      cell: ({ wallet }) =>
        mayRemove && wallet !== acting.account ? (
          <span class="row">
            <SideLink small href={namePath(wallet)}>
              Name…
            </SideLink>
            <ButtonLink small href={removePath(wallet)}>
              Remove…
            </ButtonLink>
          </span>
        ) : null,
    },
  ]
  const owner = { wallet: acting.account, role: 'owner', branch: null, createdAt: now } as MemberRow
  return (
    <Panel id="members" title="Who acts for this account">
      {members.length === 0 ? (
        <Pad>
          <p>
            <Address value={owner.wallet} /> <Badge>Owner</Badge>
          </p>
          <p class="quiet">Only the account’s own wallet. Invite another one below.</p>
        </Pad>
      ) : (
        <>
          <Table caption="Members" columns={columns} rows={members} />
          <SidePanel />
        </>
      )}
    </Panel>
  )
}

const Who = ({ member, acting }: { member: MemberRow; acting: Actor }) => (
  <>
    <Named wallet={member.wallet} members={[member]} />{' '}
    {member.wallet === acting.wallet ? <span class="quiet">you</span> : null}
  </>
)

function InvitationsPanel({ view: { acting, invitations, members, now } }: { view: MembersView }) {
  const mayRevoke = may(acting, 'members:write')
  const columns: Column<InvitationRow>[] = [
    { head: 'Role', cell: (row) => <strong>{roleWords[row.role]}</strong> },
    { head: 'Limits', at: 'who', cell: (row) => <span class="quiet">{limitsText(row)}</span> },
    {
      head: 'By',
      kind: 'optional',
      cell: ({ createdBy }) => <Named wallet={createdBy} members={members} />,
    },
    { head: 'Expires', at: 'when', cell: ({ expiresAt }) => <When at={expiresAt} now={now} /> },
    {
      head: 'Action',
      kind: 'unnamed',
      at: 'act',
      cell: ({ id }) =>
        mayRevoke ? (
          <ActionForm
            action={`/api/portal/members/invitations/${id}/revoke`}
            target="#main"
            swap="innerHTML"
          >
            <Button small>Revoke</Button>
          </ActionForm>
        ) : null,
    },
  ]
  return (
    <Panel id="invitations" title="Open invitations">
      <Table caption="Open invitations" columns={columns} rows={invitations} />
    </Panel>
  )
}

const windowWords = { lifetime: 'in all', day: 'a day', week: 'a week', month: 'a month' } as const

/** "$5.00 a month, counterfoil/*"; empty for roles without a branch. */
export const limitsText = ({ capLimit, capWindow, models }: InvitationRow): string =>
  capLimit === null || capWindow === null
    ? ''
    : [`${amountText(capLimit)} ${windowWords[capWindow]}`, ...models].join(', ')

const roleMeans: Readonly<Record<Role, Child>> = {
  owner: 'Everything, also inviting and removing members.',
  developer: 'Keys below one branch with a cap, and the runs, receipts and usage of those keys.',
  billing: 'Statement, deposits, plan and usage, with their exports.',
  viewer: 'Reads everything, changes nothing.',
}

const RolesPanel = () => (
  <Panel id="roles" title="Roles">
    <Pad>
      <Facts of={roles.map((role) => [roleWords[role], roleMeans[role]] as const)} />
    </Pad>
  </Panel>
)
