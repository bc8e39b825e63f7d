import type { Group } from './row.ts'

const flows = 'test/members/members.test.ts'
const table = 'test/members/roles.test.ts'

export const members: Group = {
  title: 'Members',
  rows: [
    {
      id: 'P1',
      severity: 'C',
      promise: 'Every dashboard route names a right, and a role without it gets 403.',
      tests: [
        [table, 'Every role has the rights that are written here.'],
        [table, 'Every route of the dashboard names a right, also those of webhooks.'],
        [table, 'A member with the role %s gets what it may and 403 for the rest.'],
      ],
      guards: [
        ['src/kernel/acting.ts', 'rights'],
        ['src/access/accounts/needs-session.ts', 'rightOf'],
      ],
    },
    {
      id: 'P2',
      severity: 'C',
      promise: 'A developer sees and changes nothing outside the own branch of keys.',
      tests: [
        [flows, 'A developer gets a branch, and all that they mint hangs below it.'],
        [flows, 'A developer lists the runs, receipts and usage of the own branch alone.'],
        [flows, 'The console of a developer spends through a key of the branch.'],
      ],
      guards: [
        ['src/storage/db/whose.ts', 'ofWhose'],
        ['src/access/keys/owns.ts', 'isKeyOf'],
      ],
    },
    {
      id: 'P3',
      severity: 'C',
      promise: 'A removed member has no session, key or right left at the commit.',
      tests: [
        [flows, 'Removal ends the session, the branch and its keys in one commit.'],
        [flows, 'A member who leaves acts for the own account again, and the branch is revoked.'],
        [flows, 'A key that is minted while its member is removed is refused or revoked.'],
      ],
      guards: [
        ['src/access/members/remove.ts', 'removeMember'],
        ['src/access/membership.ts', 'assertStillMember'],
      ],
    },
    {
      id: 'P4',
      severity: 'C',
      promise: 'An invitation makes one wallet a member, once, until it is revoked or expires.',
      tests: [
        [flows, 'Of many wallets that accept one link at once, one becomes a member.'],
        [flows, 'An invitation ends when it is revoked and when its week is over.'],
        [
          flows,
          'A link shows the wallet that it would be bound to, and changes nothing by itself.',
        ],
      ],
      guards: [['src/access/members/accept.ts', 'accept']],
    },
    {
      id: 'P5',
      severity: 'H',
      promise: 'The audit names the wallet that acted and the account it acted for.',
      tests: [[flows, 'The audit says which wallet did it and for which account.']],
      guards: [['src/access/accounts/sign-in.ts', 'auditOf']],
    },
  ],
}
