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
    {
      id: 'H16',
      severity: 'H',
      promise: 'An auditor with the files of a log alone finds any byte of them that was changed.',
      tests: [
        ['test/verify/read-tiles.test.ts', 'is named where any byte of it is changed: %s'],
        [
          'test/audit/tiles.test.ts',
          'name the file and the place of what is wrong, and say what to do',
        ],
        [
          'test/witnesses/independent.test.ts',
          'has a checkpoint of three signatures, and every entry under its root',
        ],
      ],
      guards: [
        ['src/verify/read-tiles.ts', 'readTiles'],
        ['src/front/audit/audit-tiles.ts', 'auditTiles'],
      ],
    },
    {
      id: 'H17',
      severity: 'H',
      promise:
        'A receipt that the log does not have at its place is found, and so is a second history.',
      tests: [
        ['test/audit/tiles.test.ts', 'that show %s are found out'],
        ['test/audit/tiles.test.ts', 'was broken: that is found, and both files are named'],
      ],
      guards: [
        ['src/front/audit/papers.ts', 'readPapers'],
        ['src/front/audit/audit-tiles.ts', 'compareHeads'],
      ],
    },
    {
      id: 'H18',
      severity: 'H',
      promise:
        'An exported log is never published before all its files were read under its signed head.',
      tests: [
        [
          'test/log/export.test.ts',
          'go on where an export was killed: the checkpoint is the last thing that moves',
        ],
        [
          'test/log/export.test.ts',
          'are read again before the end: a damaged one is named, with what to do',
        ],
        [
          'test/log/export.test.ts',
          'are refused to a folder of another log, of a longer one, or of none',
        ],
      ],
      guards: [['src/proof/log/export-log.ts', 'exportLog']],
    },
  ],
}
