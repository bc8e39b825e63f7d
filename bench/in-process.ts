import { measureIn } from './child.ts'
import { postgresServer } from './environment.ts'
import type { Pace } from './rounds.ts'
import type { Row } from './table.ts'

/** Durable runs of the ledger alone, against each command in a transaction of its own. */
export async function measureLedger({ seconds }: Pace): Promise<Row[]> {
  const found = await measureIn<{ at32: number; at256: number }>('ledger.ts', seconds)
  const quantity = 'durable runs a second against one transaction a command'
  return [
    { quantity: `${quantity}, 32 at once`, measured: found.at32, gate: ['≥', 5] },
    { quantity: `${quantity}, 256 at once`, measured: found.at256, gate: ['≥', 5] },
  ]
}

/** The same on a PostgreSQL server, where `BENCH_DATABASE_URL` or `TEST_DATABASE_URL` names one. */
export async function measurePostgres({ seconds, rounds }: Pace): Promise<Row[]> {
  const server = postgresServer()
  const quantity = 'PostgreSQL: runs a second against interactive transactions'
  const found = server
    ? await measureIn<{ many: number; hot: number; fsync: string }>(
        'postgres.ts',
        server,
        seconds,
        rounds,
      )
    : undefined
  const off = found?.fsync === 'off' ? ' (its fsync is off)' : ''
  const none = 'no BENCH_DATABASE_URL'
  return [
    {
      quantity: `${quantity}, 64 accounts${off}`,
      measured: found?.many ?? none,
      gate: ['≥', 3],
    },
    {
      quantity: `${quantity}, one hot account${off}`,
      measured: found?.hot ?? none,
      gate: ['≥', 10],
    },
  ]
}
