import type { Fault, Place } from './row.ts'

const crash: Place = ['test/binary/drill-crash.test.ts', 'kills in the middle of runs']
const retried: Place = ['test/binary/idempotency.test.ts', 'a retry gets the stored result']
const anew: Place = ['test/binary/idempotency.test.ts', 'killed while it runs: the hold is freed']
const fullFiles: Place = ['test/binary/faults.test.ts', 'a file system that is really full']
const asHttp = 'test/upstream/http.test.ts'
const buffer: Place = [
  'test/http/sse.test.ts',
  'is sent no more than the buffer, and counts as gone after the deadline',
]

/** Kills, disks, memory and clocks. */
export const machineFaults: readonly Fault[] = [
  {
    fault: 'the process is killed before the hold of a run is stored',
    expected: 'the connection breaks, nothing is recorded; asked again it runs',
    drills: ['faults fsync:signal=KILL', 'faults pwrite64:signal=KILL'],
  },
  {
    fault: 'killed with a hold, before the upstream answered',
    expected:
      'after the restart the hold is gone, nothing charged; a run with a row is interrupted',
    tests: [anew, crash],
    drills: ['crash'],
  },
  {
    fault: 'killed in the middle of a stream',
    expected: 'the same, also when the restart is killed too',
    tests: [crash],
    drills: ['crash', 'recover', 'faults recovery'],
  },
  {
    fault: 'killed between the settle of a run and its answer',
    expected: 'the same Idempotency-Key gets the stored answer; one charge',
    tests: [retried],
    drills: ['crash', 'faults settle fsync:signal=KILL', 'faults settle pwrite64:signal=KILL'],
  },
  {
    fault: 'killed while it ends the runs of before',
    expected: 'the next start ends the others, each once',
    tests: [crash],
    drills: ['faults recovery', 'recover'],
  },
  {
    fault: 'killed in the middle of a migration',
    expected: 'the old schema or the new one, never between',
    tests: [['test/db/migrate.test.ts', 'survives a kill at statement %d of the first start']],
    drills: ['faults migration'],
  },
  {
    fault: 'killed in the middle of a backup',
    expected: 'no part of a copy under its name',
    tests: [
      ['test/binary/upkeep.test.ts', 'killed at any moment, a backup is there whole or not at all'],
    ],
    drills: ['faults backup', 'backup'],
  },
  {
    fault: 'killed between writing an anchor down, sending it and knowing of it',
    expected: 'one transaction on the chain, which the next start finds',
    tests: [
      ['test/binary/anchor.test.ts', 'killed between writing a transaction down and sending it'],
      ['test/binary/anchor.test.ts', 'killed after it was sent, the next start finds it'],
    ],
  },
  {
    fault: 'the power fails: what was not synced is lost',
    expected: 'what was acknowledged is there; every beginning of the log is a whole ledger',
    tests: [
      [
        'test/db/open.test.ts',
        'every connection syncs each commit, keeps references, and waits briefly',
      ],
    ],
    drills: ['crash', 'faults cut log'],
  },
  {
    fault: 'a sync fails',
    expected: 'no success is told, nothing is written any more, reads go on',
    tests: [
      [
        'test/binary/faults.test.ts',
        'a sync that fails is no success, and nothing is written after it',
      ],
    ],
    drills: ['crash', 'faults fsync:error=EIO', 'faults every write EIO'],
  },
  {
    fault: 'a write fails or is cut short',
    expected: 'as a sync that fails; after a restart every page is whole',
    drills: ['crash', 'faults every write EIO', 'faults every write short'],
  },
  {
    fault: 'the disk of the database is full',
    expected: '503, reads go on; over by itself when there is room',
    tests: [fullFiles, ['test/runs/full-disk.test.ts', 'is a 5xx that charges nothing']],
    drills: ['crash', 'faults full disk', 'faults every write ENOSPC'],
  },
  {
    fault: 'the disk of the log of events is full; SQLite needs none for what is temporary',
    expected: 'requests are not affected',
    drills: ['faults full log'],
  },
  {
    fault: 'the file system becomes read-only',
    expected: '503, reads go on',
    tests: [['test/db/storage.test.ts', 'what the engine says']],
    drills: ['faults read-only', 'faults EROFS'],
  },
  {
    fault: 'pages of the database are overwritten',
    expected: 'money routes are 503, the log names what to do, nothing is repaired in silence',
    tests: [
      ['test/binary/faults.test.ts', 'a damaged page stops money and names the command'],
      ['test/db/open.test.ts', 'stops what would move money over it, and nothing is written'],
    ],
    drills: ['faults pages'],
  },
  {
    fault: 'the header of the database is overwritten',
    expected: 'no start, and the file stays as it is',
    tests: [
      [
        'test/db/open.test.ts',
        'is refused and stays as it was: its bytes, its mode, its neighbours',
      ],
    ],
    drills: ['faults header'],
  },
  {
    fault: 'the database is deleted under the server',
    expected: 'found out within seconds; writes stop; it is not made anew',
    tests: [
      ['test/binary/faults.test.ts', 'a database that is deleted is found out, and not made anew'],
      [
        'test/status/storage.test.ts',
        'is found out, takes no write any more, and is not made anew',
      ],
    ],
    drills: ['faults deleted'],
  },
  {
    fault: 'another program holds the lock of the database',
    expected: 'it is waited for; after the budget 503; over by itself',
    tests: [['test/db/second-process.test.ts', 'is waited for while it holds the lock']],
    drills: ['faults lock'],
  },
  {
    fault: 'a reader stays, so that the write-ahead log only grows',
    expected: 'a warning, no outage; the log is small again when the reader is gone',
    drills: ['faults reader'],
  },
  {
    fault: 'no file descriptors are left',
    expected: 'an answer or a 5xx for each; it recovers when they are free',
    drills: ['faults descriptors'],
  },
  {
    fault: 'memory runs out',
    expected: 'what clients and upstreams make it keep is bounded; killed, it loses nothing',
    tests: [buffer, [asHttp, '50 MB in 50 kB of gzip stop at the limit, read whole or as']],
    drills: ['faults memory', 'soak'],
  },
  {
    fault: 'the process is stopped for a minute and goes on',
    expected: 'what was in flight ends once',
    tests: [
      ['test/binary/frozen-node.test.ts', 'no index is missing and none is there twice while one'],
    ],
    drills: ['faults stopped'],
  },
  {
    fault: 'the clock jumps by an hour, ahead and back',
    expected: 'durations are right, nothing ends by the jump alone, and no key comes back',
    tests: [
      ['test/simulation/simulation.test.ts', 'does what the model says after every command'],
      ['test/keys/guards.test.ts', 'no key ends before it was made, though the clock went back'],
    ],
    drills: ['faults clock', 'simulate'],
  },
]
