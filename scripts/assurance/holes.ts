import type { Group } from './row.ts'

export const holes: Group = {
  title: 'Thieves, free accounts and forged files',
  rows: [
    {
      id: 'T1',
      severity: 'C',
      promise:
        'Hanging up on a model that reasons unseen costs at least nine tenths of the ' +
        'whole answer, never more than the hold.',
      tests: [
        [
          'test/runs/drain.test.ts',
          'at the first word of a model that reasons pays what the end costs',
        ],
        ['test/runs/drain.test.ts', 'is never charged above its hold'],
      ],
      guards: [['src/runs/live-run.ts', 'LiveRun']],
    },
    {
      id: 'T2',
      severity: 'C',
      promise: 'All that is relayed is counted, whichever event it comes in.',
      tests: [
        ['test/protocols/everything-relayed.test.ts', 'in any order: all that goes out is counted'],
      ],
      guards: [['src/models/protocols/member-bytes.ts', 'MemberBytes']],
    },
    {
      id: 'T3',
      severity: 'H',
      promise:
        'An account stores a bounded number of rows and bytes a day without paying, ' +
        'over any number of nodes; a paid run is neither counted nor refused for it.',
      tests: [
        ['test/ledger/free-writes.test.ts', 'the budget of free writes on %s'],
        [
          'test/docs/unpaid.test.ts',
          'docs/unpaid.md lists what every command stores, and whether the budget refuses it',
        ],
      ],
      guards: [['src/ledger/free-writes.ts', 'isFunded']],
    },
    {
      id: 'T4',
      severity: 'H',
      promise:
        'The CPU of a request grows as its size does; accounts without money have two ' +
        'runs at once and are refused before their body is read.',
      tests: [
        ['test/http/linear-cost.test.ts', 'the CPU of a request grows as its size does'],
        ['test/runs/unfunded.test.ts', 'an account without money'],
      ],
      guards: [['src/runs/pace.ts', 'Pace']],
    },
    {
      id: 'T5',
      severity: 'C',
      promise:
        'A verifier checks every byte that it was given: a manifest covers its file, a ' +
        'replaced part must hold, a saved answer has one form.',
      tests: [
        [
          'test/verify/replaced.test.ts',
          'A part of a receipt file that another beside it replaces',
        ],
        ['test/runs/saved-forms.test.ts', 'is read where it says one thing'],
      ],
      guards: [
        ['src/verify/replaced-parts.ts', 'replacedParts'],
        ['src/runs/saved-forms.ts', 'contradiction'],
      ],
    },
    {
      id: 'T6',
      severity: 'H',
      promise: 'The brake pauses a key by what was spent; held money only delays.',
      tests: [
        [
          'test/runs/brake.test.ts',
          'runs that hold much and pay little delay others of the branch, and pause nothing',
        ],
        ['test/runs/brake.test.ts', 'holds at a rate, exactly, under a thousand calls at once'],
      ],
      guards: [['src/ledger/brake.ts', 'isMostlySpent']],
    },
    {
      id: 'T7',
      severity: 'C',
      promise:
        'A report of a leak contains what the leaked key made, also after it rotated itself.',
      tests: [['test/keys/leak-made.test.ts', 'what a leaked key made, on %s']],
      guards: [['src/access/keys/leak.ts', 'reportLeak']],
    },
    {
      id: 'T8',
      severity: 'H',
      promise:
        'A removed member changes no key, however close the request is to the end of ' +
        'the membership.',
      tests: [
        [
          'test/members/at-commit.test.ts',
          'A key stays as it was if the membership ends between the request and its commit.',
        ],
      ],
      guards: [['src/access/membership.ts', 'assertStillMember']],
    },
    {
      id: 'T9',
      severity: 'C',
      promise: 'Nothing false of the log is served, and the damaged leaf is named.',
      tests: [['test/log/damage.test.ts', 'a log whose rows changed on the disk']],
      guards: [['src/proof/log/damage.ts', 'noteDamage']],
    },
    {
      id: 'T10',
      severity: 'C',
      promise:
        'No run is charged whose client is gone before its hold, as with two requests ' +
        'in one segment.',
      tests: [['test/runs/two-in-one-segment.test.ts', 'two requests in one segment, on %s']],
      guards: [['src/runs/begin.ts', 'assertThere']],
    },
    {
      id: 'T11',
      severity: 'H',
      promise:
        'An endpoint hears of its first event within two seconds beside 800 that never ' +
        'answer; leaks and pulled brakes come first, in the order of their key.',
      tests: [
        [
          'test/outbox/lanes.test.ts',
          'An endpoint hears of its first event within two seconds beside 800 that never answer.',
        ],
        ['test/outbox/lanes.test.ts', 'A leak is told before all that waits for an endpoint'],
      ],
      guards: [
        ['src/front/webhooks/places.ts', 'makePlaces'],
        ['src/front/webhooks/webhook.ts', 'urgentTypes'],
      ],
    },
    {
      id: 'T12',
      severity: 'C',
      promise:
        'No command but serve, restore and migrate makes a database, so money never ' +
        'goes to one that nobody serves.',
      tests: [
        [
          'test/binary/which-database.test.ts',
          'no command but serve, restore and migrate makes a database',
        ],
      ],
      guards: [['src/app/open-database.ts', 'openDatabase']],
    },
    {
      id: 'T13',
      severity: 'H',
      promise:
        "A model server that refuses the operator's key or account is an alarm from its first " +
        'refusal on.',
      tests: [
        ['test/upstream/dying-provider.test.ts', 'is an alarm with its first'],
        ['test/packaging/alerts.test.ts', 'are taken by Prometheus, and fire when they should'],
      ],
      guards: [['src/models/upstream/operator-fault.ts', 'OperatorFault']],
    },
  ],
}
