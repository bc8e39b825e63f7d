import type { Group } from './row.ts'

export const deposits: Group = {
  title: 'Deposits',
  rows: [
    {
      id: 'F1',
      severity: 'C',
      promise: 'A transfer on the chain is credited once, whoever reads it how often.',
      tests: [
        ['test/deposits/scan.test.ts', 'each log read 100 times by two watchers is credited once'],
        [
          'test/deposits/wall.test.ts',
          'that a second row would bring, also in another account and at another index',
        ],
        ['test/deposits/wall.test.ts', 'that a row which lost its state would bring'],
        [
          'test/binary/deposits.test.ts',
          'what came while it was killed again and again is credited once',
        ],
      ],
      guards: [['src/billing/deposits/credit-deposit.ts', 'creditDeposit']],
    },
    {
      id: 'F16',
      severity: 'H',
      promise:
        'A lie about the length of the chain hides no deposit and keeps no look from its end.',
      tests: [
        [
          'test/deposits/scan.test.ts',
          'a cursor that a lie pushed past the end of the chain hides no deposit from then on',
        ],
        ['test/deposits/scan.test.ts', 'a rescan brings back a cursor that a lie pushed past'],
        [
          'test/deposits/scan.test.ts',
          'a lie about the length of the chain is not walked to its end',
        ],
      ],
      guards: [['src/billing/deposits/scan.ts', 'scan']],
    },
    {
      id: 'F15',
      severity: 'C',
      promise:
        'A transfer is credited once, whatever two RPC servers say in whatever order: a final ' +
        'deposit stays as it is, and the journal takes one credit for each transfer.',
      tests: [
        ['test/deposits/twice.test.ts', 'a server that denies a finalized deposit for one look'],
        ['test/deposits/lying.test.ts', 'where the %s one lies'],
        ['test/deposits/lying.test.ts', 'where it lies twice about final deposits: %s, %s'],
        [
          'test/deposits/anvil-liar.test.ts',
          'that denies finalized deposits for one look changes nothing',
        ],
        [
          'test/deposits/wall.test.ts',
          'and takes the credit that follows a reversal, under a reference of its own',
        ],
        [
          'test/db/append-only.test.ts',
          'takes the credit of a transfer on the chain once, whatever the account.',
        ],
      ],
      guards: [
        ['src/billing/deposits/credit-deposit.ts', 'creditDeposit'],
        ['src/ledger/deposit-ref.ts', 'depositRef'],
        ['src/billing/deposits/match-transfers.ts', 'matchTransfers'],
        ['src/billing/deposits/reorg.ts', 'applyReorg'],
      ],
    },
    {
      id: 'F2',
      severity: 'C',
      promise:
        'Only a transfer of our token to our treasury, in a block that stands, is a deposit.',
      tests: [
        ['test/deposits/credit.test.ts', 'a log %s is no deposit'],
        [
          'test/deposits/credit.test.ts',
          'a transaction that failed brings nothing, whatever a server says of its logs',
        ],
        ['test/deposits/anvil.test.ts', 'a token that only looks the same brings nothing'],
      ],
      guards: [
        ['src/billing/deposits/transfer.ts', 'readTransfer'],
        ['src/billing/deposits/reorg.ts', 'isUnmoved'],
      ],
    },
    {
      id: 'F3',
      severity: 'C',
      promise: 'A deposit is credited only at the depth that its amount requires.',
      tests: [
        [
          'test/deposits/credit.test.ts',
          'small: detected, credited 20 blocks later, finalized when its block is',
        ],
        [
          'test/deposits/credit.test.ts',
          'over the soft limit of a day it waits for a safe block, over the hard one for',
        ],
      ],
      guards: [['src/billing/deposits/deposit.ts', 'isDeepEnough']],
    },
    {
      id: 'F4',
      severity: 'C',
      promise: 'A reorganisation credits nothing twice and takes back what is gone.',
      tests: [
        ['test/deposits/reorg.test.ts', 'that drops a deposit orphans it; nothing is credited'],
        [
          'test/deposits/reorg.test.ts',
          'that moves it to another block and index credits it once, from there',
        ],
        [
          'test/deposits/reorg.test.ts',
          'takes what is available, never what a run holds, and books the rest as a loss',
        ],
        ['test/deposits/anvil.test.ts', 'that drops a deposit before and after its credit'],
      ],
      guards: [
        ['src/billing/deposits/reorg.ts', 'applyReorg'],
        ['src/billing/deposits/credit-deposit.ts', 'reverseDeposit'],
      ],
    },
    {
      id: 'F5',
      severity: 'C',
      promise: 'An RPC server of another chain is not believed, and the API goes on.',
      tests: [
        ['test/chain/rpc.test.ts', 'a server is asked for its chain once, and only then believed'],
        ['test/chain/rpc.test.ts', 'a server that is %s is told apart, and names no URL'],
        ['test/anchors/outage.test.ts', 'because what comes back is another chain is not believed'],
        [
          'test/deposits/scan.test.ts',
          'the chain and the decimals are asked again after every failure',
        ],
      ],
      guards: [
        ['src/proof/chain/servers.ts', 'openServers'],
        ['src/billing/deposits/watch.ts', 'isTokenValid'],
      ],
    },
    {
      id: 'F6',
      severity: 'C',
      promise: 'Amounts of the chain are exact, at every size, with the decimals of the contract.',
      tests: [
        ['test/deposits/credit.test.ts', '2^256 - 1 units are kept as they are and ignored'],
        [
          'test/binary/deposits.test.ts',
          'with other decimals than the token has it serves and says that deposits are',
        ],
      ],
      guards: [
        ['src/billing/deposits/deposit.ts', 'toNusd'],
        ['src/billing/deposits/token.ts', 'checkToken'],
      ],
    },
    {
      id: 'F7',
      severity: 'H',
      promise: 'A scan leaves no gap, whatever a server answers.',
      tests: [['test/deposits/scan.test.ts', 'the ranges that are asked for']],
      guards: [['src/billing/deposits/scan.ts', 'scan']],
    },
    {
      id: 'F8',
      severity: 'H',
      promise:
        'Where a second RPC server is named, what one of the two invents is not credited, nor ' +
        'what one of them leaves out.',
      tests: [
        [
          'test/deposits/second.test.ts',
          'what a second server changes its mind on is credited once',
        ],
        [
          'test/deposits/second.test.ts',
          'that has none of it: an invented deposit is never credited, however deep',
        ],
        ['test/deposits/second.test.ts', 'a second server that differs'],
        ['test/deposits/second.test.ts', 'a server that leaves something out'],
        ['test/deposits/second.test.ts', 'a second server that does not answer'],
        [
          'test/deposits/credit.test.ts',
          'over the soft limit of a day it waits for a safe block, over the hard one for',
        ],
      ],
      guards: [
        ['src/billing/deposits/deposit.ts', 'isDeepEnough'],
        ['src/billing/deposits/second.ts', 'secondServer'],
      ],
    },
    {
      id: 'F9',
      severity: 'H',
      promise: 'A deposit is of the wallet that sent it, and can be claimed only with that wallet.',
      tests: [
        ['test/deposits/claim.test.ts', 'is claimed by who signed with that wallet, once'],
        [
          'test/deposits/claim.test.ts',
          'is not given for another text, another account or another transaction',
        ],
        ['test/deposits/credit.test.ts', 'a log %s is no deposit'],
      ],
      guards: [
        ['src/billing/deposits/claim.ts', 'claimDeposits'],
        ['src/billing/deposits/transfer.ts', 'readTransfer'],
      ],
    },
    {
      id: 'F10',
      severity: 'H',
      promise: 'Trouble with the chain is told without a URL and stops nothing else.',
      tests: [
        ['test/chain/rpc.test.ts', 'a server that is %s is told apart, and names no URL'],
        [
          'test/deposits/portal.test.ts',
          'while the chain cannot be read the page says that deposits are delayed',
        ],
      ],
      guards: [['src/billing/deposits/watch.ts', 'attempt']],
    },
    {
      id: 'F11',
      severity: 'H',
      promise: 'No float stands between the units of a token and our amounts, which round down.',
      tests: [
        [
          'test/deposits/credit.test.ts',
          'tokens of more than nine decimals are rounded down to nano-dollars',
        ],
      ],
      guards: [['src/billing/deposits/deposit.ts', 'toNusd']],
    },
    {
      id: 'F13',
      severity: 'C',
      promise: 'Nothing moves money out of the treasury.',
      absent:
        "There are no withdrawals: the server knows the treasury's address and has no key of it.",
    },
  ],
}
