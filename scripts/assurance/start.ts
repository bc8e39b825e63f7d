import type { Group } from './row.ts'

export const start: Group = {
  title: 'Start and commands',
  rows: [
    {
      id: 'M1',
      severity: 'H',
      promise:
        'A configuration file that exists and cannot be read ends the start: defaults and a new ' +
        'signer key never take its place.',
      tests: [
        [
          'test/binary/configuration-file.test.ts',
          'is refused when it is a folder, as Docker makes for a missing mount',
        ],
        [
          'test/binary/configuration-file.test.ts',
          'is refused when it is a link to a missing file',
        ],
        ['test/binary/configuration-file.test.ts', 'is refused when this user may not read it'],
        [
          'test/binary/configuration-file.test.ts',
          'is refused by every command, also when --config names it',
        ],
      ],
      guards: [['src/config-file.ts', 'readConfig']],
    },
    {
      id: 'M2',
      severity: 'H',
      promise:
        'A command whose output is closed early finishes its work and ends without an error.',
      tests: [
        ['test/binary/closed-output.test.ts', '%s ends without an error or a stack trace'],
        ['test/binary/closed-output.test.ts', 'finishes what it began: the key it made is there'],
        ['test/binary/closed-output.test.ts', 'fails in one line when its output is a full disk'],
      ],
      guards: [['src/cli/output.ts', 'surviveLostOutput']],
    },
  ],
}
