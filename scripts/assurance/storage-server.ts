import type { Row } from './row.ts'

/** A PostgreSQL server that is gone, or takes no writes. */
export const storageServer: readonly Row[] = [
  {
    id: 'K21',
    severity: 'C',
    promise:
      'A PostgreSQL server that vanishes without a word is a 503 within 12 s, hangs no probe ' +
      'and no stop, and is used again by itself; a COMMIT whose answer got lost is settled once.',
    tests: [
      [
        'test/binary/silent-database.test.ts',
        'answers 503 within 12 s, probes within 2 s all the time, and goes on by itself',
      ],
      [
        'test/binary/silent-database.test.ts',
        'charges what was asked for with an Idempotency-Key once, whenever the network came',
      ],
      [
        'test/binary/silent-database.test.ts',
        'ends within its grace and five seconds when it is told to stop',
      ],
      ['test/db/silent-server.test.ts', 'a PostgreSQL server behind a network that drops'],
      ['test/db/silent-server.test.ts', 'a PostgreSQL server that answers slowly'],
      ['test/runs/doubtful-end.test.ts', 'a run whose end is in doubt'],
      ['test/db/connections.test.ts', 'a connection that breaks is told to every listener'],
    ],
    guards: [
      ['src/storage/db/postgres-pool.ts', 'serverPool'],
      ['src/runs/finish.ts', 'afterDoubt'],
    ],
  },
  {
    id: 'K22',
    severity: 'H',
    promise:
      'A PostgreSQL server that takes no writes is a 503 that says why, on the node too, and ' +
      'passes by itself.',
    tests: [['test/binary/troubled-database.test.ts', 'a node on a PostgreSQL server in']],
    guards: [
      ['src/storage/db/server-fault.ts', 'serverFaultOf'],
      ['src/storage/db/server-trouble.ts', 'watchTrouble'],
    ],
  },
]
