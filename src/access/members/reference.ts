/** Reference entries of members and of the account that a session acts for. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import {
  acceptBody,
  actBody,
  actingShape,
  inviteBody,
  invitedShape,
  inviteForm,
  memberNameBody,
  memberShape,
  membersShape,
  uninvitedShape,
} from './shapes.ts'

/** The wallet of the examples that is a member. */
export const memberSample = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
/** The token of the example. */
export const tokenSample = 'w8pK3xN0dQm5sT7vYb2cLf4hRj6gZk9aXu1eWo3iPqE'

const { get, post } = r.entriesUnder('/api/portal/members', {
  path: {
    id: t.id('inv', 'Id of an invitation.'),
    address: t.address('The wallet of the member.'),
  },
})

const operations = [
  get('listMembers', '', 'List members', {
    about: 'Who else may act for the account, and the open invitations.',
    answers: r.done('The members.', membersShape),
  }),
  post('inviteMember', '/invite', 'Invite a member', {
    about:
      'Makes a link that one wallet can accept within seven days. It is shown once. A developer ' +
      'gets a branch: one key with this cap and these models, above all keys they create.',
    body: { schema: inviteBody, form: inviteForm },
    examples: [
      {
        name: 'A developer',
        body: {
          role: 'developer',
          cap: { limit_nusd: 5_000_000_000, window: 'month' },
          models: ['counterfoil/*'],
        },
      },
      { name: 'From a form', form: { role: 'viewer' } },
    ],
    answers: [
      r.paged(201, 'The invitation with its link.', invitedShape),
      r.goesTo('To a browser that navigates (`Sec-Fetch-Mode: navigate`): the page of members.'),
    ],
    refuses: ['conflict'],
  }),
  post('revokeInvitation', '/invitations/:id/revoke', 'Revoke an invitation', {
    about: 'Its link is dead at once.',
    examples: ['An open one'],
    answers: r.done('It is revoked.', uninvitedShape),
  }),
  post('nameMember', '/:address/name', 'Name a member', {
    about: 'The name stands beside the address. It is seen in this account alone.',
    body: memberNameBody,
    examples: [
      { name: 'A name', path: { address: memberSample }, body: { name: 'Ada, billing' } },
      { name: 'From a form', path: { address: memberSample }, form: { name: '' } },
    ],
    answers: r.done('The member as it is now.', memberShape),
  }),
  post('removeMember', '/:address/remove', 'Remove a member', {
    about:
      'Ends the sessions that act by the membership and revokes the branch, in one commit. The ' +
      "account's own wallet is never removed.",
    examples: [{ name: 'A member', path: { address: memberSample } }],
    answers: r.done('The member that was removed.', memberShape),
    refuses: ['conflict'],
  }),
  post('acceptInvitation', '/accept', 'Accept an invitation', {
    about: 'Makes the wallet that is signed in a member. The link is used up.',
    body: acceptBody,
    examples: r.bothWays('By its token', { token: tokenSample }),
    answers: r.done('The membership.', memberShape),
    refuses: ['not_found', 'conflict'],
  }),
  post('leaveAccount', '/leave', 'Leave an account', {
    about: 'The one that the session acts for; then it acts for its own account again.',
    examples: [{ name: 'In the own account', status: 409 }],
    answers: r.done('The membership that ended.', memberShape),
    refuses: ['not_found', 'conflict'],
  }),
  r.entriesUnder('/api/auth').post('actFor', '/account', 'Switch to another account', {
    about: 'Opens a session for that account in the place of this one; its runs and streams end.',
    body: actBody,
    examples: r.bothWays('Your own', { account: t.sampleWallet }),
    answers: [
      r.ok('The account it acts for.', actingShape, {
        'Set-Cookie': t.text('The cookie of the new session.', 'sid=…; HttpOnly; Path=/'),
      }),
      r.goesTo('To a plain form: the first page of the role.'),
    ],
    refuses: ['session_required', 'not_found'],
  }),
]

export const membersArea = r.area('members', 'dashboard', 'Members', {
  about:
    'Wallets that act for an account, each with a role: owner, developer, billing or viewer. A ' +
    'membership is a grant by the account; a wallet still signs in as itself.',
  operations,
})
