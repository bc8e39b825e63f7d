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
      guards: [['src/config/file.ts', 'readConfig']],
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
    {
      id: 'M3',
      severity: 'H',
      promise:
        'A data folder or a PostgreSQL server that cannot be used is named with its path, or its ' +
        'host and port, and the remedy; never with a user or a password.',
      tests: [
        ['test/binary/data-folder.test.ts', 'that is a file ends %s with 78 and stays as it is'],
        ['test/binary/data-folder.test.ts', 'ends %s with the folder and the remedy'],
        ['test/binary/data-folder.test.ts', 'ends %s where the folder cannot be made'],
        ['test/binary/database-messages.test.ts', 'because it is down is named with host and port'],
        [
          'test/binary/database-messages.test.ts',
          'because the password is wrong is named without it',
        ],
      ],
      guards: [
        ['src/config/ensure-folder.ts', 'ensureFolder'],
        ['src/storage/db/opening-fault.ts', 'openingFault'],
      ],
    },
    {
      id: 'M4',
      severity: 'C',
      promise: 'A database that was copied elsewhere is not served or changed again by mistake.',
      tests: [
        ['test/binary/copy.test.ts', 'marks the file: no server and no command goes on with it'],
        ['test/binary/copy.test.ts', 'keeps its mark in a backup of the file'],
        ['test/binary/copy.test.ts', 'lets the file go on only with serve --really'],
      ],
      guards: [
        ['src/app/open-database.ts', 'openDatabase'],
        ['src/storage/db/moved.ts', 'markMoved'],
      ],
    },
    {
      id: 'M5',
      severity: 'H',
      promise:
        'Behind a pooler in transaction mode the service works with ?prepare=false, says that it ' +
        'polls, and says what to do where prepared statements fail.',
      tests: [
        [
          'test/binary/pooler.test.ts',
          'in transaction mode a server with ?prepare=false serves, and says that it polls',
        ],
        [
          'test/binary/pooler.test.ts',
          'in transaction mode without ?prepare=false a start says what to do',
        ],
        ['test/binary/pooler.test.ts', 'in session mode a server listens'],
      ],
      guards: [
        ['src/app/hear-nodes.ts', 'hearNodes'],
        ['src/storage/db/opening-fault.ts', 'isPoolerFault'],
      ],
    },
    {
      id: 'M6',
      severity: 'H',
      promise:
        'The nightly backup works on PostgreSQL too, and doctor knows the age of the newest.',
      tests: [
        ['test/binary/postgres-backup.test.ts', 'is made by the unit of the timer'],
        [
          'test/binary/postgres-backup.test.ts',
          'keeps nothing and says why when pg_dump fails, and never writes over a file',
        ],
      ],
      guards: [['src/cli/pg-dump.ts', 'dump']],
    },
  ],
}
