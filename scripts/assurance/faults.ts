import type { Place } from './row.ts'

/** Something that breaks, what is then expected, and where that is seen. */
export type Fault = {
  fault: string
  expected: string
  tests?: readonly Place[]
  /**
   * Drills that show it, by the words after `bun run drill`; after `faults` how the name of a
   * fault begins.
   */
  drills?: readonly string[]
}

const crash: Place = ['test/binary/drill-crash.test.ts', 'five kills in the middle of runs']
const retried: Place = ['test/binary/idempotency.test.ts', 'a retry gets the stored result']
const anew: Place = ['test/binary/idempotency.test.ts', 'killed while it runs: the hold is freed']
const fullFiles: Place = ['test/binary/faults.test.ts', 'a file system that is really full']
const asHttp = 'test/upstream/http.test.ts'
const lying = 'test/runs/lying-upstream.test.ts'
const wire = 'test/runs/broken-wire.test.ts'
const buffer: Place = [
  'test/http/sse.test.ts',
  'is sent no more than the buffer, and counts as gone after the deadline',
]

/** All faults, numbered in this order. */
export const faults: readonly Fault[] = [
  {
    fault: 'the process is killed before the hold of a run is stored',
    expected: 'the connection breaks, nothing is recorded; asked again it runs',
    drills: ['faults fsync:signal=KILL', 'faults pwrite64:signal=KILL'],
  },
  {
    fault: 'killed with the hold stored, before the upstream answered',
    expected: 'after the restart the run is interrupted, its hold freed once, nothing charged',
    tests: [anew, crash],
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
    drills: ['faults settle fsync:signal=KILL', 'faults settle pwrite64:signal=KILL'],
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
    drills: ['faults cut log'],
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
    drills: ['faults fsync:error=EIO'],
  },
  {
    fault: 'a write fails or is cut short',
    expected: 'as a sync that fails; after a restart every page is whole',
    drills: ['faults pwrite64:error=EIO', 'faults short write'],
  },
  {
    fault: 'the disk of the database is full',
    expected: '503, reads go on; over by itself when there is room',
    tests: [fullFiles, ['test/runs/full-disk.test.ts', 'is a 5xx that charges nothing']],
    drills: ['faults full disk', 'faults pwrite64:error=ENOSPC'],
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
  {
    fault: 'an upstream refuses, resets, has a wrong certificate or a name nobody knows',
    expected: '502, the hold is freed, and it counts as a failure of the upstream',
    tests: [
      [asHttp, 'nobody listening is unreachable'],
      [asHttp, 'a server with a certificate that nobody vouches for is unreachable'],
      [wire, 'a name that nobody knows is a 502 at no charge'],
      ['test/upstream/openai.test.ts', 'one that breaks before its first chunk rejects'],
      [lying, 'is a 502 that costs nothing, streamed or not'],
      ['test/runs/breaker.test.ts', 'three failures in a row'],
    ],
  },
  {
    fault: 'an upstream answers 200 and then nothing',
    expected: 'the client is pinged, then told of the timeout, and pays what it got',
    tests: [
      ['test/http/sse.test.ts', 'sends its head at once and a comment in each interval'],
      ['test/runs/stop.test.ts', '504 upstream_timeout'],
    ],
  },
  {
    fault: 'an upstream stops inside of a chunk or of a character',
    expected: 'an error in band, and whole JSON before it',
    tests: [
      [wire, 'a stream that is cut'],
      [lying, 'streams that break off'],
    ],
  },
  {
    fault: 'an upstream lies about usage: 0, negative, huge, missing, twice',
    expected: 'charged between what was delivered and the hold; the receipt says how',
    tests: [
      [lying, 'usage is charged between what was delivered and the hold'],
      [wire, 'usage that is told twice is charged once, at most the hold'],
    ],
  },
  {
    fault: 'an upstream sends a bomb of gzip, a line without end, a head without end',
    expected: 'given up at the limit',
    tests: [
      [asHttp, '50 MB in 50 kB of gzip stop at the limit, read whole or as'],
      ['test/upstream/sse.test.ts', 'a line that never ends is too large, also as a comment'],
      [wire, 'a head that does not end'],
    ],
  },
  {
    fault: 'an upstream redirects',
    expected: 'an error; its key goes nowhere else',
    tests: [
      [asHttp, 'a redirect is a failure and the credentials reach no other server'],
      [lying, 'a redirect is not followed: the other server sees nothing'],
    ],
  },
  {
    fault: 'more streams stall than are admitted',
    expected: 'further runs are 503 at once; all else goes on',
    tests: [
      ['test/binary/streams.test.ts', 'above admission a run is refused at once with 503'],
      ['test/binary/streams.test.ts', 'stalled streams do not starve a run'],
      ['test/binary/drill-share.test.ts', '200 stalled streams of one key leave the runs of'],
    ],
    drills: ['share'],
  },
  {
    fault: 'a client goes away: with a FIN, with a reset, or without a word',
    expected: 'the upstream is stopped; who says nothing is gone after the deadline of a write',
    tests: [
      ['test/http/sse.test.ts', 'a client that hangs up'],
      ['test/http/sse.test.ts', 'by a reset, too'],
      buffer,
      ['test/runs/stop.test.ts', 'in a stream that fell silent: its upstream is stopped as well'],
    ],
  },
  {
    fault: 'a client never reads',
    expected: 'it is sent no more than the buffer, and is gone after the deadline',
    tests: [
      buffer,
      ['test/runs/stop.test.ts', 'a reader that takes nothing does not keep a cancelled run from'],
    ],
  },
  {
    fault: 'clients send their head or body slowly, or stop in it',
    expected: 'they are given up after a time, and keep nobody else out',
    tests: [
      ['test/http/slow.test.ts', '600 of them keep nobody else out'],
      ['test/http/slow-body.test.ts', 'keep nobody else out, and all are over soon'],
      ['test/http/slow-body.test.ts', 'a head that does not arrive is given up by 12 s'],
    ],
  },
  {
    fault:
      'an RPC server is away, busy, sends HTML, is of another chain, lags, forgot, lies, or its ' +
      'chain is reorganised',
    expected: 'nothing is credited that is not there; what is, is credited once, later',
    tests: [
      ['test/chain/rpc.test.ts', 'a server that is %s is told apart, and names no URL'],
      ['test/anchors/outage.test.ts', 'because it is %s changes nothing'],
      [
        'test/deposits/scan.test.ts',
        '%s: nothing is credited, the API serves, the status says why',
      ],
      ['test/deposits/scan.test.ts', 'what a lagging server left out is found by the overlap'],
      [
        'test/deposits/reorg.test.ts',
        'a server that no longer knows a transaction proves nothing by itself',
      ],
      [
        'test/deposits/second.test.ts',
        'that has none of it: an invented deposit is never credited',
      ],
      ['test/deposits/anvil.test.ts', 'that drops a deposit before and after its credit'],
    ],
  },
  {
    fault: 'two watchers find the same deposit',
    expected: 'one credit',
    tests: [
      ['test/deposits/scan.test.ts', 'each log read 100 times by two watchers is credited once'],
    ],
  },
  {
    fault: 'the transaction of an anchor is dropped, or offers too little',
    expected: 'sent again with the same nonce; one root',
    tests: [
      ['test/anchors/faults.test.ts', 'that a server dropped goes out again with the same bytes'],
      ['test/anchors/faults.test.ts', 'that is stuck is sent again, then twice with higher fees'],
    ],
  },
  {
    fault: 'SIGTERM under load',
    expected: 'what was taken is finished or told of the end, settled and paid; the exit is 0',
    tests: [['test/binary/stop.test.ts', 'what was taken is finished, long streams end with']],
    drills: ['stop'],
  },
  {
    fault: 'a second server on the same data',
    expected: 'refused, and the first goes on',
    tests: [['test/binary/stop.test.ts', 'a second server on the same data folder is refused']],
  },
  {
    fault: 'an old copy of the database is restored',
    expected: 'the chain tells; nothing is issued over it; deposits are credited once',
    tests: [
      ['test/binary/backup.test.ts', 'restored, the ledger adds up, each deposit is credited once'],
      ['test/binary/anchor.test.ts', 'an old copy of the database issues nothing'],
    ],
  },
  {
    fault: 'its log of events is moved away, or copied and emptied',
    expected: 'no line is lost or torn; requests are not affected',
    drills: ['faults rotation'],
  },
]
