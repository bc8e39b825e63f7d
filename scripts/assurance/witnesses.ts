import type { Group } from './row.ts'

export const witnesses: Group = {
  title: 'Witnesses and the log in the standard form',
  rows: [
    {
      id: 'H11',
      severity: 'C',
      promise: 'A witness never signs two histories of a log, also when it is killed.',
      tests: [
        [
          'test/witnesses/crash.test.ts',
          'a witness that is killed while two histories race never signs both of them',
        ],
        [
          'test/witnesses/witness.test.ts',
          'is on the disk before the signature leaves: another process finds it',
        ],
      ],
      guards: [['src/proof/witnessing/store.ts', 'openWitnessStore']],
    },
    {
      id: 'H12',
      severity: 'H',
      promise: 'A fork that is shown to a witness is refused and kept as evidence.',
      tests: [['test/witnesses/mutual.test.ts', 'is refused, and the fork is evidence in a file']],
      guards: [['src/proof/witnessing/submission.ts', 'judgeHead']],
    },
    {
      id: 'H13',
      severity: 'H',
      promise: 'No run waits for a witness.',
      tests: [
        [
          'test/witnesses/mutual.test.ts',
          'a run waits for no witness, and one that is back signs what is newest',
        ],
      ],
      guards: [['src/proof/log/ask-witnesses.ts', 'witnessAsker']],
    },
    {
      id: 'H14',
      severity: 'H',
      promise: 'Tiles hold hashes and digests alone, and only below a signed head.',
      tests: [
        ['test/log/tiles.test.ts', 'what no checkpoint covers yet is not served'],
        [
          'test/log/tiles.test.ts',
          'entries hash to the tiles of level 0, and these to the level above and the root',
        ],
      ],
      guards: [['src/proof/log/tiles.ts', 'tileAt']],
    },
    {
      id: 'H15',
      severity: 'H',
      promise: 'A receipt is valid by a policy only with the quorum of witnesses that it names.',
      tests: [
        [
          'test/verify/witnessed.test.ts',
          'is undecided below the quorum, and says how many there are',
        ],
        ['test/verify/policy.test.ts', 'decides what a receipt needs'],
      ],
      guards: [['src/verify/check-witnesses.ts', 'judgeBy']],
    },
  ],
}
