import type { Group } from './row.ts'

export const servers: Group = {
  title: 'Several servers',
  rows: [
    {
      id: 'N1',
      severity: 'H',
      promise:
        'A second server on the same data folder or the same database file is refused, by ' +
        'whatever name, also after lock.db was deleted.',
      tests: [
        [
          'test/binary/second-server.test.ts',
          'is refused after lock.db was deleted, and names the process that runs; that one goes on',
        ],
        [
          'test/binary/second-server.test.ts',
          'is refused under another data folder, by a symbolic link and by a hard link',
        ],
        [
          'test/binary/second-server.test.ts',
          'starts after the first was killed, and on a copy of the folder beside it',
        ],
        [
          'test/binary/stop.test.ts',
          'a second server on the same data folder is refused and says why; the first',
        ],
        ['test/db/lock.test.ts', 'is not taken on a read-only file, where it would lock nothing'],
      ],
      guards: [
        ['src/storage/db/lock.ts', 'lockDataFolder'],
        ['src/storage/db/file-lock.ts', 'lockInode'],
      ],
    },
    {
      id: 'N2',
      severity: 'C',
      promise:
        'No clock of one server interrupts runs of another: leases go by the clock of the ' +
        'database. A skewed clock is a warning, a wrong one refuses to serve.',
      tests: [
        [
          'test/status/clocks.test.ts',
          'neither ends runs of the other, and it warns, off by %i ms',
        ],
        [
          'test/status/clocks.test.ts',
          'it refuses to serve until it is right again, after a jump of %i ms',
        ],
        [
          'test/status/clocks.test.ts',
          'it does not start, names both clocks, and ends no run, off by %i ms',
        ],
        [
          'test/db/lease-clock.test.ts',
          'is the server’s, counted on without asking, wherever the wall clock jumps',
        ],
        [
          'test/db/lease-clock.test.ts',
          'is read again before a lease after a connection broke, and only then',
        ],
        [
          'test/binary/clocks.test.ts',
          'warns at 15 s and refuses at 60 s; no run of a neighbour is interrupted',
        ],
        [
          'test/binary/clocks.test.ts',
          'waits at its start while it is 60 s off, says what both clocks show, and goes on',
        ],
      ],
      guards: [
        ['src/storage/db/lease-clock.ts', 'openLeaseClock'],
        ['src/ledger/guard.ts', 'guarded'],
        ['src/kernel/skew.ts', 'skewOf'],
      ],
    },
    {
      id: 'N3',
      severity: 'H',
      promise: 'Two servers never issue receipts under two names in one log.',
      tests: [
        [
          'test/log/two-names.test.ts',
          'one after the other: the second is refused, names both and what to do; the first serves',
        ],
        [
          'test/log/two-names.test.ts',
          'at once: exactly one of them starts, whichever it is, and issues receipts',
        ],
        [
          'test/log/two-names.test.ts',
          'a wrong first base_url is changed by the next start while nothing was issued, and not',
        ],
        [
          'test/log/two-names.test.ts',
          'a server that slept while another named the log anew issues no receipt under the old',
        ],
        [
          'test/binary/first-nodes.test.ts',
          'of two at once with two base_urls one serves; the other ends and is told both',
        ],
      ],
      guards: [
        ['src/proof/log/store/logs.ts', 'ensureLogs'],
        ['src/proof/log/store/logs.ts', 'nameGuard'],
      ],
    },
    {
      id: 'N4',
      severity: 'C',
      promise:
        'A database that lost commits is noticed by every node before anything new is begun, ' +
        'numbered or signed, also after a restart of all; no head ever contradicts another.',
      tests: [
        [
          'test/log/forgetful.test.ts',
          'is found out by every running node within 10 s, and nothing is signed or numbered',
        ],
        [
          'test/log/forgetful.test.ts',
          'has its lost receipts listed by the nodes that acknowledged them',
        ],
        [
          'test/log/forgetful.test.ts',
          'leaves what was issued before and is stored its proofs, after log reopen',
        ],
        ['test/log/forgetful.test.ts', 'is found out at the start where all nodes were restarted'],
        [
          'test/log/forgetful.test.ts',
          'is found out by a node with an empty data folder, from one that knows',
        ],
        [
          'test/log/forgetful.test.ts',
          'is found out without a chain, and the log says once what to do',
        ],
        [
          'test/log/forgetful.test.ts',
          'doctor finds it, and says that all is well of the right file',
        ],
        ['test/log/abandon.test.ts', 'a log that was signed further than it is stored'],
        ['test/runs/returned.test.ts', 'an open run that came back with a database of before'],
        ['test/db/replication.test.ts', 'each way to lose an acknowledged COMMIT is named'],
      ],
      guards: [
        ['src/proof/log/heads.ts', 'makeHeads'],
        ['src/proof/log/store/leaf.ts', 'assertHolds'],
        ['src/proof/log/reopen.ts', 'reopenLog'],
        ['src/proof/receipts/receipt.ts', 'reissued'],
        ['src/runs/end-abandoned.ts', 'endReturned'],
        ['src/proof/receipts/lost.ts', 'listLost'],
        ['src/storage/db/replication.ts', 'replicationFault'],
      ],
    },
  ],
}
