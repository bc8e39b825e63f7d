/** Reference entries of members and of the account that a session acts for. */
import {
  acceptBody,
  actBody,
  actingShape,
  inviteBody,
  invitedShape,
  inviteForm,
  memberShape,
  membersShape,
  uninvitedShape,
} from '../../../access/members/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { done, paged, seeOther } from '../browser-answers.ts'
import { area, ok, operation } from '../entry.ts'

/** The wallet of the examples that is a member. */
export const memberSample = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
/** The token of the example. */
export const tokenSample = 'w8pK3xN0dQm5sT7vYb2cLf4hRj6gZk9aXu1eWo3iPqE'

const owners = [
  operation('listMembers', 'GET /api/portal/members', 'List members', {
    about: 'Who else may act for the account, and the open invitations.',
    access: 'session',
    answers: done('The members.', membersShape),
  }),
  operation('inviteMember', 'POST /api/portal/members/invite', 'Invite a member', {
    about:
      'Makes a link that one wallet can accept within seven days. It is shown once. A developer ' +
      'gets a branch: one key with this cap and these models, above all keys they create.',
    access: 'session',
    body: { schema: inviteBody, form: inviteForm },
    examples: [
      {
        name: 'A developer',
        body: {
          role: 'developer',
          cap: { limit_nusd: 5_000_000_000, window: 'month' },
          models: ['counterfoil/*'],
        },
        status: 201,
      },
      { name: 'From a form', form: { role: 'viewer' }, status: 201 },
    ],
    answers: [
      paged(201, 'The invitation with its link.', invitedShape),
      {
        ...seeOther,
        about: 'To a browser that navigates (`Sec-Fetch-Mode: navigate`): the page of members.',
      },
    ],
    refuses: ['conflict'],
  }),
  operation(
    'revokeInvitation',
    'POST /api/portal/members/invitations/:id/revoke',
    'Revoke an invitation',
    {
      about: 'Its link is dead at once.',
      access: 'session',
      path: { id: t.id('inv', 'Id of an invitation.') },
      examples: [{ name: 'An open one', path: { id: t.sampleIds.inv }, status: 200 }],
      answers: done('It is revoked.', uninvitedShape),
      refuses: ['not_found'],
    },
  ),
  operation('removeMember', 'POST /api/portal/members/:address/remove', 'Remove a member', {
    about:
      'Ends the sessions that act by the membership and revokes the branch, in one commit. The ' +
      "account's own wallet is never removed.",
    access: 'session',
    path: { address: t.address('The wallet of the member.') },
    examples: [{ name: 'A member', path: { address: memberSample }, status: 200 }],
    answers: done('The member that was removed.', memberShape),
    refuses: ['not_found', 'conflict'],
  }),
]

const own = [
  operation('acceptInvitation', 'POST /api/portal/members/accept', 'Accept an invitation', {
    about: 'Makes the wallet that is signed in a member. The link is used up.',
    access: 'session',
    body: { schema: acceptBody, form: acceptBody },
    examples: [
      { name: 'By its token', body: { token: tokenSample }, status: 200 },
      { name: 'From a form', form: { token: tokenSample }, status: 200 },
    ],
    answers: done('The membership.', memberShape),
    refuses: ['not_found', 'conflict'],
  }),
  operation('leaveAccount', 'POST /api/portal/members/leave', 'Leave an account', {
    about: 'The one that the session acts for; then it acts for its own account again.',
    access: 'session',
    examples: [{ name: 'In the own account', status: 409 }],
    answers: done('The membership that ended.', memberShape),
    refuses: ['not_found', 'conflict'],
  }),
  operation('actFor', 'POST /api/auth/account', 'Switch to another account', {
    about: 'Opens a session for that account in the place of this one; its runs and streams end.',
    access: 'none',
    body: { schema: actBody, form: actBody },
    examples: [
      { name: 'Your own', body: { account: t.sampleWallet }, status: 200 },
      { name: 'From a form', form: { account: t.sampleWallet }, status: 200 },
    ],
    answers: [
      ok('The account it acts for.', actingShape, {
        'Set-Cookie': t.text('The cookie of the new session.', 'sid=…; HttpOnly; Path=/'),
      }),
      { ...seeOther, about: 'To a plain form: the first page of the role.' },
    ],
    refuses: ['session_required', 'not_found'],
  }),
]

export const membersArea = area('members', 'dashboard', 'Members', {
  about:
    'Wallets that act for an account, each with a role: owner, developer, billing or viewer. A ' +
    'membership is a grant by the account; a wallet still signs in as itself.',
  operations: [...owners, ...own],
})
