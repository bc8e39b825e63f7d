import type { Fault, Place } from './row.ts'

const asHttp = 'test/upstream/http.test.ts'
const lying = 'test/runs/lying-upstream.test.ts'
const lyingDoors = 'test/runs/lying-doors.test.ts'
const wire = 'test/runs/broken-wire.test.ts'
const buffer: Place = [
  'test/http/sse.test.ts',
  'is sent no more than the buffer, and counts as gone after the deadline',
]

/** Upstreams, clients, the chain and the operator. */
export const outsideFaults: readonly Fault[] = [
  {
    fault: 'an upstream refuses, resets, has a wrong certificate or a name nobody knows',
    expected: '502, the hold is freed, and it counts as a failure of the upstream',
    tests: [
      [asHttp, 'nobody listening is unreachable'],
      [asHttp, 'a server with a certificate that nobody vouches for is unreachable'],
      [wire, 'a name that nobody knows is a 502 at no charge'],
      ['test/upstream/model-server.test.ts', 'one that breaks before its first chunk rejects'],
      [lyingDoors, '%s is a 502 that costs nothing, streamed or not'],
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
      [lyingDoors, 'usage is charged between what was delivered and the hold'],
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
      [lyingDoors, 'a redirect is not followed: the other server sees nothing'],
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
      [
        'test/runs/stuck-reader.test.ts',
        'a reader that takes nothing does not keep a cancelled run from',
      ],
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
