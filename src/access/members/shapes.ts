/** The bodies and answers of members. */
import { roles } from '../../kernel/acting.ts'
import { capWindows } from '../../ledger/window.ts'
import * as t from '../../web/http/shape.ts'

/** The body of `POST /api/portal/members/invite`. */
export const inviteBody = t.body('Invite', 'Whom to invite. Only a developer has a cap.', {
  role: t.word('What the wallet may do that accepts.', roles),
  'cap?': t.closed("The cap of the developer's branch: all their keys spend below it.", {
    limit_nusd: t.nusd('The most they spend in a window.', 5_000_000_000),
    'window?': t.oneOf('When it starts again. Default: lifetime.', capWindows),
  }),
  'models?': t.list(t.text('A glob.', 'counterfoil/*'), 'Of a branch. Default: every model.'),
})

/** An invitation as a form; empty fields count as absent. */
export const inviteForm = t.body('InviteForm', 'An invitation as a form.', {
  role: t.word('What the wallet may do that accepts.', roles),
  'cap?': t.text("Decimal USD; a developer's alone.", '5.00'),
  'window?': t.text(`When the cap starts again: ${capWindows.join(', ')}.`, 'month'),
  'models?': t.text('Globs, one a line.', 'counterfoil/*'),
})

/** The body of `POST /api/portal/members/accept`. */
export const acceptBody = t.body('AcceptInvitation', 'An invitation to accept.', {
  token: t.text('The token of the link.', 'w8pK3xN0dQm5sT7vYb2cLf4hRj6gZk9aXu1eWo3iPqE'),
})

/** The body of `POST /api/auth/account`. */
export const actBody = t.body('ActFor', 'Which account this session is to act for.', {
  account: t.text('Your own wallet, or an account that made you a member.', t.sampleWallet),
})

/** The body of `POST /api/portal/members/:address/name`. */
export const memberNameBody = t.body('MemberName', 'What to call a member.', {
  name: t.text(
    '1 to 40 characters; empty takes it away.',
    'Ada, billing',
    t.told({ maxLength: 40 }),
  ),
})

const branchCap = t.orNull(
  t.object("Of a developer's branch.", {
    limit_nusd: t.nusd('The most spent in a window.', 5_000_000_000),
    window: t.oneOf('When it starts again.', capWindows),
  }),
)

export const memberShape = t.answer('Member', 'A wallet that may act for the account.', {
  object: t.only('member'),
  address: t.address('The wallet.'),
  name: t.usuallyNull(t.text('What the account calls it.', 'Ada, billing')),
  role: t.oneOf('What it may do.', roles),
  branch_key_id: t.orNull(t.id('key', 'The key above all keys of a developer.')),
  invited_by: t.address('Who invited it.'),
  created_at: t.time('When it joined.'),
})

const invitation = {
  id: t.id('inv', 'Id of the invitation.'),
  role: t.oneOf('What the wallet may do that accepts.', roles),
  cap: branchCap,
  models: t.list(t.text('A glob.', 'counterfoil/*'), 'Of a branch; empty for every model.'),
  created_by: t.address('Who invited.'),
  created_at: t.time('When.'),
  expires_at: t.time('When its link ends.'),
}

export const invitationShape = t.answer('Invitation', 'An open invitation, without its link.', {
  object: t.only('invitation'),
  ...invitation,
})

export const invitedShape = t.answer('NewInvitation', 'An invitation with its link, shown once.', {
  object: t.only('invitation'),
  ...invitation,
  link: t.text('For one wallet.', 'https://gw.example/dashboard/members/accept?token=…'),
})

export const membersShape = t.answer('Members', 'Who else may act for an account.', {
  object: t.only('members'),
  account: t.address('The account; its own wallet is always an owner.'),
  members: t.list(memberShape, 'The oldest first.'),
  invitations: t.list(invitationShape, 'The open ones, newest first.'),
})

/** The answer of a revoked invitation. */
export const uninvitedShape = t.answer('RevokedInvitation', '', {
  revoked: t.flag('Its link is dead.', true),
})

export const actingShape = t.answer('Acting', 'Which account this session acts for.', {
  account: t.address('The account.'),
  wallet: t.address('The wallet that signed in.'),
  role: t.oneOf('Its role there.', roles),
  expires_at: t.time('When the session ends unless it is used.'),
})

export type MemberAnswer = t.Static<typeof memberShape>
export type InvitationAnswer = t.Static<typeof invitationShape>
