import type { Group } from './row.ts'
import { storageServer } from './storage-server.ts'

export const storage: Group = {
  title: 'Storage and process',
  rows: [
    {
      id: 'K1',
      severity: 'H',
      promise: 'SQLite is opened with the settings that keep what was acknowledged.',
      tests: [
        [
          'test/db/open.test.ts',
          'every connection syncs each commit, keeps references, and waits briefly',
        ],
        ['test/db/migrate.test.ts', 'has only STRICT tables'],
      ],
      guards: [
        ['src/storage/db/connection.ts', 'connect'],
        ['src/storage/db/migrate.ts', 'assertOurs'],
      ],
    },
    {
      id: 'K2',
      severity: 'C',
      promise: 'A kill at any moment loses nothing that was acknowledged and repeats nothing.',
      tests: [
        [
          'test/binary/drill-crash.test.ts',
          'kills in the middle of runs lose nothing and charge nothing twice',
        ],
        [
          'test/db/sqlite.test.ts',
          'are answered after their COMMIT: whoever hears of it can read it from the file',
        ],
      ],
      guards: [
        ['src/runs/end-abandoned.ts', 'endAbandoned'],
        ['src/ledger/post.ts', 'openLedger'],
      ],
    },
    {
      id: 'K3',
      severity: 'C',
      promise:
        'Runs of a process that died are ended by the next one, once: before it is ready, or of ' +
        'very many the rest beside its clients.',
      tests: [
        [
          'test/binary/drill-crash.test.ts',
          'kills in the middle of runs lose nothing and charge nothing twice',
        ],
        [
          'test/binary/idempotency.test.ts',
          'killed while it runs: the hold is freed, and the same key runs it anew',
        ],
        ['test/binary/faults.test.ts', 'killed at a sync, it holds what was acknowledged, once'],
        ['test/runs/stranded.test.ts', 'are ended some at a time, each once'],
      ],
      guards: [['src/runs/end-abandoned.ts', 'endAbandoned']],
    },
    {
      id: 'K5',
      severity: 'C',
      promise: 'On a full disk nothing half is stored, reads go on, and it passes by itself.',
      tests: [
        [
          'test/db/sqlite.test.ts',
          'stores nothing it did not acknowledge, and is over when there is room again',
        ],
        [
          'test/runs/full-disk.test.ts',
          'is a 5xx that charges nothing; the hold goes when there is space',
        ],
        [
          'test/status/storage.test.ts',
          'is a 503 that says so; reads go on; it is over by itself, and told once',
        ],
        [
          'test/binary/faults.test.ts',
          'a file system that is really full is a 503 that passes by itself',
        ],
      ],
      guards: [
        ['src/storage/db/storage.ts', 'watchStorage'],
        ['src/runs/finish.ts', 'freeLater'],
      ],
    },
    {
      id: 'K6',
      severity: 'C',
      promise: 'A disk that fails to sync is told as a failure, and no success follows it.',
      tests: [
        [
          'test/binary/faults.test.ts',
          'a sync that fails is no success, and nothing is written after it',
        ],
        ['test/db/storage.test.ts', 'only the caller of the COMMIT that failed is left in doubt'],
      ],
      guards: [
        ['src/storage/db/storage.ts', 'watchStorage'],
        ['src/storage/db/sqlite.ts', 'openSqlite'],
      ],
    },
    {
      id: 'K8',
      severity: 'H',
      promise: 'A damaged database is refused and left as it is.',
      tests: [
        ['test/db/migrate.test.ts', 'that is no database at all is refused and left alone'],
        [
          'test/db/open.test.ts',
          'is refused and stays as it was: its bytes, its mode, its neighbours',
        ],
        ['test/db/open.test.ts', 'stops what would move money over it, and nothing is written'],
        ['test/binary/upkeep.test.ts', 'a damaged backup is not restored'],
        ['test/binary/faults.test.ts', 'a damaged page stops money and names the command'],
      ],
      guards: [
        ['src/app/open-database.ts', 'readHead'],
        ['src/storage/db/storage.ts', 'watchStorage'],
      ],
    },
    {
      id: 'K9',
      severity: 'H',
      promise: 'A lost or empty database is not made anew in silence.',
      tests: [
        ['test/binary/commands.test.ts', 'a database that was lost is not made anew in silence'],
        ['test/db/open.test.ts', 'that stays empty is taken for a lost database'],
        [
          'test/binary/faults.test.ts',
          'a database that is deleted is found out, and not made anew',
        ],
      ],
      guards: [
        ['src/app/open-database.ts', 'assertWhole'],
        ['src/storage/db/storage.ts', 'watchStorage'],
      ],
    },
    {
      id: 'K11',
      severity: 'H',
      promise:
        'A backup under load is whole, checked before it has its name, and makes nobody wait ' +
        'for its end.',
      tests: [
        ['test/binary/backup.test.ts', 'is whole while others run, and says as of when'],
        [
          'test/binary/upkeep.test.ts',
          'killed at any moment, a backup is there whole or not at all',
        ],
      ],
      guards: [['src/storage/db/backup.ts', 'copyBackup']],
    },
    {
      id: 'K12',
      severity: 'C',
      promise: 'An old copy of the database is found out by the chain and issues nothing.',
      tests: [
        [
          'test/binary/backup.test.ts',
          'restored, the ledger adds up, each deposit is credited once',
        ],
        [
          'test/anchors/guard.test.ts',
          'issues nothing: every way to run is 503 log_diverged, and nothing is held',
        ],
      ],
      guards: [
        ['src/proof/anchors/watch.ts', 'watchChain'],
        ['src/storage/db/backup.ts', 'putInPlace'],
      ],
    },
    {
      id: 'K13',
      severity: 'C',
      promise: 'A migration happens whole or not at all, and a newer database is refused.',
      tests: [
        ['test/db/migrate.test.ts', 'survives a kill at statement %d of the first start'],
        ['test/db/migrate.test.ts', 'keeps its old schema when a statement in the middle fails'],
        ['test/db/migrate.test.ts', 'newer than this build is refused and left alone'],
      ],
      guards: [
        ['src/storage/db/migrate.ts', 'migrateSqlite'],
        ['src/storage/db/migrate.ts', 'pendingOf'],
      ],
    },
    {
      id: 'K14',
      severity: 'H',
      promise: 'SIGTERM ends what runs within its time, settles all of it, and exits with 0.',
      tests: [
        [
          'test/binary/stop.test.ts',
          'what was taken is finished, long streams end with an error in band, all is',
        ],
        ['test/binary/stop.test.ts', 'afterwards nothing is held, and each run was paid once'],
      ],
      guards: [['src/cli/serve.ts', 'stopOnSignals']],
    },
    {
      id: 'K15',
      severity: 'H',
      promise: 'An error in a job is logged and stops neither the server nor the next turn.',
      tests: [
        ['test/job-runner.test.ts', 'a job that throws is logged, and every job runs again'],
        ['test/job-runner.test.ts', 'one that takes long is never run twice at once'],
      ],
      guards: [['src/app/job-runner.ts', 'startJobs']],
    },
    {
      id: 'K18',
      severity: 'C',
      promise: 'No secret reaches a log or an error, at any level.',
      tests: [
        [
          'test/logging/redact.test.ts',
          'are redacted at any depth, and whatever they hold, the line is written',
        ],
        [
          'test/binary/secrets.test.ts',
          'the secret of a key is nowhere but in the hands of who made it',
        ],
        ['test/signer/signer.test.ts', 'nor by an error about it'],
        ['test/config/config.test.ts', 'a wrong secret is never quoted'],
      ],
      guards: [['src/app/logging.ts', 'redactFields']],
    },
    {
      id: 'K19',
      severity: 'H',
      promise: 'Prompts and answers are not kept unless asked for, and go when they are deleted.',
      tests: [
        [
          'test/texts/deleted.test.ts',
          'a prompt and an answer never get there unless the account asked',
        ],
        ['test/texts/deleted.test.ts', 'texts of any size leave them with the deletion'],
        ['test/terminal/ask.test.ts', 'nothing that is stored says who asked, or what'],
      ],
      guards: [
        ['src/runs/kept-rows.ts', 'textRows'],
        ['src/storage/texts/store.ts', 'forgetTexts'],
      ],
    },
    {
      id: 'K20',
      severity: 'H',
      promise: 'Many streams and slow readers take a bounded memory.',
      tests: [
        [
          'test/http/sse.test.ts',
          'is sent no more than the buffer, and counts as gone after the deadline',
        ],
        ['test/http/sse.test.ts', 'a hundred of them leave nothing behind'],
        [
          'test/upstream/model-server.test.ts',
          '100 at once, each aborted at another moment, leave nothing behind',
        ],
        [
          'test/binary/drill-soak.test.ts',
          'some seconds of everything at once: every answer is the expected one',
        ],
      ],
      guards: [['src/web/http/sse.ts', 'sseResponse']],
      missing:
        'a test of a bound of the whole process; half an hour of everything is measured in ' +
        '`drills.md`, 1,000 streams in `benchmarks.md`.',
    },
    ...storageServer,
    {
      id: 'K23',
      severity: 'H',
      promise: 'The data folder and its files are for their owner alone.',
      tests: [['test/binary/commands.test.ts', 'the data folder is for its owner alone']],
      guards: [['src/app/open-database.ts', 'openDatabase']],
    },
  ],
}
