import { promised } from './promised.ts'
import type { Group } from './row.ts'
import { selling } from './selling.ts'

export const money: Group = {
  title: 'Money',
  rows: [
    {
      id: 'D1',
      severity: 'C',
      promise:
        'Every transfer has two ends, nothing is lost, and a balance is the sum of its entries.',
      tests: [
        [
          'test/ledger/simulation.test.ts',
          'does what a ten-line model does, and conserves money after every step',
        ],
        [
          'test/simulation/simulation.test.ts',
          'does what the model says after every command, whatever is killed, lost or set back',
        ],
        ['test/ledger/audit.test.ts', 'an audit on %s'],
        [
          'test/statement/statement.test.ts',
          'adds up to the balance: every line, every page, every day, the file (history',
        ],
      ],
      guards: [
        ['src/ledger/audit.ts', 'makeAudit'],
        ['src/ledger/unit-of-work.ts', 'makeUnitOfWork'],
      ],
    },
    {
      id: 'D2',
      severity: 'C',
      promise: 'Holds and spending never exceed the balance, under any concurrency.',
      tests: [
        [
          'test/runs/concurrent.test.ts',
          'through one key the balance pays exactly 50 and refuses the rest',
        ],
        [
          'test/ledger/nodes.test.ts',
          'never overspend: of 400 holds on each, exactly 50 are taken in all',
        ],
        ['test/db/append-only.test.ts', 'keeps 0 ≤ held ≤ balance ≤ 9,000,000 USD'],
        [
          'test/db/second-process.test.ts',
          'spends beside the server: never more than there is, nothing lost',
        ],
      ],
      guards: [['src/ledger/hold.ts', 'takeHold']],
    },
    {
      id: 'D3',
      severity: 'H',
      promise: 'Booked transfers cannot be changed or deleted: the database itself refuses.',
      tests: [['test/db/append-only.test.ts', 'changes no transfer and deletes none']],
      guards: [
        ['drizzle/sqlite/0000_init.sql', 'transfers_never_change'],
        ['drizzle/pg/0000_init.sql', 'transfers_never_change'],
      ],
    },
    {
      id: 'D4',
      severity: 'C',
      promise: 'An amount is a whole number in bounds; anything else is refused.',
      tests: [
        ['test/kernel/money.test.ts', 'is no amount: %j'],
        ['test/keys/refused.test.ts', 'of POST /v1/keys with %s'],
        ['test/models/api.test.ts', 'max_tokens'],
      ],
      guards: [
        ['src/kernel/money.ts', 'parseUsd'],
        ['src/access/keys/api/key-body.ts', 'mintBody'],
      ],
    },
    {
      id: 'D5',
      severity: 'H',
      promise: 'No sum leaves the bounds: the ledger refuses first, the database after it.',
      tests: [
        ['test/ledger/batch.test.ts', 'a balance never passes 9,000,000 USD'],
        ['test/db/append-only.test.ts', 'keeps 0 ≤ held ≤ balance ≤ 9,000,000 USD'],
        [
          'test/deposits/credit.test.ts',
          'a deposit that would pass the most an account can hold waits until there is',
        ],
      ],
      guards: [
        ['src/billing/deposits/credit-deposit.ts', 'creditDeposit'],
        ['src/ledger/grant.ts', 'grant'],
      ],
    },
    {
      id: 'D6',
      severity: 'C',
      promise: 'The most a run may cost is checked and held in one step.',
      tests: [
        [
          'test/ledger/affordable.test.ts',
          'exactly 50 are taken through one key, and the balance refuses the rest',
        ],
        [
          'test/ledger/nodes.test.ts',
          'never overspend: of 400 holds on each, exactly 50 are taken in all',
        ],
      ],
      guards: [['src/ledger/hold.ts', 'takeHold']],
    },
    {
      id: 'D7',
      severity: 'C',
      promise: 'A run ends once, whatever ends it.',
      tests: [
        [
          'test/ledger/batch.test.ts',
          'a hold ends once: a second end is refused and moves nothing',
        ],
        ['test/ledger/nodes.test.ts', 'end a hold once, whoever comes first'],
        [
          'test/runs/stranded.test.ts',
          'are ended once by two nodes that find them at the same time',
        ],
        [
          'test/ledger/simulation.test.ts',
          'does what a ten-line model does, and conserves money after every step',
        ],
        [
          'test/simulation/simulation.test.ts',
          'does what the model says after every command, whatever is killed, lost or set back',
        ],
      ],
      guards: [['src/ledger/hold.ts', 'endHold']],
    },
    {
      id: 'D8',
      severity: 'C',
      promise: 'The hold covers the most a run can cost.',
      tests: [
        ['test/models/bound.test.ts', 'holds for whatever the built-in models report'],
        [
          'test/models/usage.test.ts',
          'no report and no delivery leads above the bound or to anything but a count',
        ],
        [
          'test/models/api.test.ts',
          'the hold covers n choices of max_tokens, and is gone after the run',
        ],
      ],
      guards: [['src/models/bound.ts', 'boundOf']],
    },
    {
      id: 'D9',
      severity: 'C',
      promise: 'A run is never charged more than its hold, whatever usage an upstream reports.',
      tests: [
        [
          'test/runs/lying-doors.test.ts',
          'usage is charged between what was delivered and the hold',
        ],
        ['test/ledger/batch.test.ts', 'a cost above the hold is never charged'],
        ['test/db/append-only.test.ts', 'lets no run cost more than it holds'],
        [
          'test/runs/agent-bill.test.ts',
          "An agent of 50 turns over one growing prefix pays its upstream's own sum.",
        ],
      ],
      guards: [
        ['src/models/usage.ts', 'decideUsage'],
        ['src/ledger/hold.ts', 'endHold'],
      ],
    },
    {
      id: 'D10',
      severity: 'H',
      promise: 'The price of a run is the one of its hold.',
      tests: [
        [
          'test/runs/payment-required.test.ts',
          'the price of a run is fixed by its hold: the receipt names the list',
        ],
        [
          'test/config/reload.test.ts',
          'new prices are a version with a leaf of the log; a run in flight keeps its own',
        ],
      ],
      guards: [['src/runs/begin.ts', 'begin']],
    },
    {
      id: 'D11',
      severity: 'H',
      promise:
        'A run that fails before its first byte costs nothing and frees its hold with the answer.',
      tests: [
        [
          'test/runs/lying-upstream.test.ts',
          'before the first byte it is a plain 502 that costs nothing',
        ],
        [
          'test/runs/admission.test.ts',
          'the hold is gone when a 5xx arrives, so that a retry can afford its own',
        ],
      ],
      guards: [['src/runs/end-failed.ts', 'endFailed']],
    },
    {
      id: 'D30',
      severity: 'H',
      promise: 'A hold bounds what a run is charged: text, images, PDFs, bands, tiers, a context.',
      tests: [
        [
          'test/models/context.test.ts',
          'are never charged above the hold by any report, and never without output',
        ],
        ['test/models/tokenizer.test.ts', 'counts any text exactly'],
        ['test/models/tokenizer.test.ts', 'counts a piece of %j without an end by its bytes'],
        ['test/models/media.test.ts', 'a PDF is held for as many pages as the model server takes'],
        [
          'test/console/files.test.ts',
          'as JSON: they go to the model in front of the text, and the hold bounds them',
        ],
        [
          'test/runs/fit.test.ts',
          'the bound that fits holds no more than the room, and one token more would not fit',
        ],
      ],
      guards: [
        ['src/models/bound.ts', 'boundOf'],
        ['src/models/rates.ts', 'holdLines'],
        ['src/models/media.ts', 'checkMedia'],
        ['src/models/tokenizers/byte-pairs.ts', 'makeTokenizer'],
      ],
    },
    {
      id: 'D34',
      severity: 'H',
      promise:
        'A key and those below it hold no more in a minute or an hour than its brake allows, and ' +
        'only a hold that every cap allows pulls it.',
      tests: [
        ['test/runs/brake.test.ts', 'holds at a rate, exactly, under a thousand calls at once'],
        ['test/runs/brake.test.ts', 'counts the keys below together'],
        ['test/runs/brake.test.ts', 'a hold that a cap below refuses anyway'],
        ['test/runs/brake.test.ts', 'a run of it gives back one place'],
      ],
      guards: [
        ['src/ledger/hold.ts', 'takeHold'],
        ['src/ledger/brake.ts', 'keysIn'],
        ['src/runs/brake.ts', 'pullBrake'],
      ],
    },
    {
      id: 'D31',
      severity: 'H',
      promise: 'A 402 names the amounts and the ways out, and no number of it looks like a status.',
      tests: [
        [
          'test/runs/shortage.test.ts',
          'names the amounts, the key, when it has more again, and every way out',
        ],
        ['test/runs/shortage.test.ts', 'in its words, its decimals and the tokens it offers'],
        [
          'test/runs/shortage.test.ts',
          'are 402 with Retry-After and x-should-retry: true, and the run is taken when they end',
        ],
      ],
      guards: [
        ['src/runs/shortage.ts', 'explainShortage'],
        ['src/kernel/status-safe.ts', 'notAStatus'],
      ],
    },
    ...selling,
    ...promised,
  ],
}
