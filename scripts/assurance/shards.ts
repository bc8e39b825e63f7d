import type { Group } from './row.ts'

export const shards: Group = {
  title: 'Shards',
  rows: [
    {
      id: 'Q1',
      severity: 'C',
      promise:
        'No account has a balance on two shards: only the shard of its slot opens it, credits ' +
        'its deposits and signs it in, and a database stays the shard and slots it began as.',
      tests: [
        [
          'test/shards/deposits.test.ts',
          'each is credited by the shard of its sender, and ignored by the other',
        ],
        [
          'test/shards/deposits.test.ts',
          'one that a reorg moves to another block stays ignored by the other',
        ],
        [
          'test/shards/wrong-shard.test.ts',
          'opens no account of another slot, not for its operator either',
        ],
        [
          'test/shards/database.test.ts',
          'keeps its slots, because the accounts in them stay in it',
        ],
        [
          'test/shards/database.test.ts',
          'stays without a shard until one is set, then is that one for good',
        ],
        ['test/shards/database.test.ts', 'does not become a shard'],
        [
          'test/shards/config.test.ts',
          'is refused without its file, or over one that is wrong, by the line',
        ],
      ],
      guards: [
        ['src/app/open-ledger.ts', 'onShard'],
        ['src/proof/log/store/shard.ts', 'ensureShard'],
        ['src/config/shard-map.ts', 'assertWhole'],
        ['src/billing/deposits/store.ts', 'credited'],
      ],
    },
    {
      id: 'Q2',
      severity: 'H',
      promise:
        "A node that gets another shard's key, session, id or receipt answers 421 with that " +
        'shard, never a wrong answer.',
      tests: [
        [
          'test/shards/wrong-shard.test.ts',
          'answers its own keys, and 421 with the shard to those of another',
        ],
        [
          'test/shards/wrong-shard.test.ts',
          'answers 421 to the ids of another shard, and 404 to unknown ones of its own',
        ],
        [
          'test/shards/wrong-shard.test.ts',
          'signs in wallets of its slots alone, and knows the sessions of others',
        ],
        [
          'test/shards/wrong-shard.test.ts',
          'gives receipts the origin of its log, and sends those of another on',
        ],
        ['test/browser/shards.test.ts', 'signs in where its account is'],
        [
          'test/shards/gather.test.ts',
          'say their shard themselves, and refuse a request that names another one',
        ],
        [
          'test/packaging/shards.test.ts',
          'never sends a request of a shard that is down to another one',
        ],
      ],
      guards: [
        ['src/web/http/error-answers.ts', 'misroutedOf'],
        ['src/web/http/root.ts', 'assertMeant'],
        ['src/access/keys/needs-key.ts', 'keyAuth'],
        ['src/access/accounts/needs-session.ts', 'refuseMisrouted'],
        ['src/proof/receipts/check-receipt.ts', 'issuedElsewhere'],
      ],
    },
    {
      id: 'Q3',
      severity: 'H',
      promise:
        'Secrets and sessions of a shard keep their form and at least 240 random bits, and ids ' +
        'their length and order.',
      tests: [
        [
          'test/shards/ids.test.ts',
          'keep the form, the length and the checksum, and carry 240 and 246 random bits',
        ],
        [
          'test/shards/ids.test.ts',
          'begin with its two characters, keep their length, and sort by time',
        ],
      ],
      guards: [
        ['src/access/keys/secret.ts', 'makeSecret'],
        ['src/kernel/ids.ts', 'makeIds'],
      ],
    },
    {
      id: 'Q4',
      severity: 'C',
      promise:
        'A slot that moves to another shard takes its money along once: whatever dies after any ' +
        'step, no node of either shard spends it twice, both ledgers are balanced, and the move ' +
        'can be finished.',
      tests: [
        ['test/shards/move.test.ts', 'goes on after a crash right after'],
        ['test/shards/move.test.ts', 'counts towards a cap what was spent on the other shard'],
        ['test/shards/move.test.ts', 'stays while a run goes on, which ends where it began'],
        [
          'test/shards/move.test.ts',
          'takes sessions along, and answers of calls with an Idempotency-Key',
        ],
        [
          'test/shards/move.test.ts',
          'is never opened where it left, by a process that knows nothing of it',
        ],
        [
          'test/shards/check-moves.test.ts',
          'an audit of the moves of all shards finds what left and did not arrive alike',
        ],
      ],
      guards: [
        ['src/ledger/stopped.ts', 'whyStopped'],
        ['src/storage/slots/store/leave.ts', 'takeOut'],
        ['src/storage/slots/store/arrive.ts', 'takeIn'],
        ['src/storage/slots/store/owners.ts', 'misplaced'],
        ['src/front/audit/check-moves.ts', 'checkMoves'],
      ],
    },
    {
      id: 'Q5',
      severity: 'C',
      promise: 'A deposit is credited once, wherever the slot of its sender goes meanwhile.',
      tests: [
        [
          'test/shards/move-deposits.test.ts',
          'a credit that is not final keeps the slot where it is',
        ],
        [
          'test/shards/move-deposits.test.ts',
          'those on their way are credited once, whichever shard saw them first',
        ],
        [
          'test/shards/move-deposits.test.ts',
          'those that another shard credited stay credited once, when the slot comes back',
        ],
      ],
      guards: [
        ['src/storage/slots/store/arrive.ts', 'bringDeposits'],
        ['src/storage/slots/store/leave.ts', 'countOpen'],
        ['src/billing/deposits/store.ts', 'credited'],
      ],
    },
  ],
}
