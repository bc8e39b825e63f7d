/**
 * `bun bench/postgres.ts <postgres://…> [seconds] [rounds]`: durable runs of one node, 64 at once,
 * against interactive transactions on the same server: of many accounts, and of one. Works in a
 * database of its own, which it drops.
 */

import { systemClock } from '../src/kernel/clock.ts'
import { openPostgres } from '../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../src/storage/db/schema/migrate.ts'
import { emptyDatabase } from '../test/support/postgres.ts'
import { measureTurns, openRuns } from './ledger-runs.ts'
import { openPlain } from './plain-transactions.ts'
import { middle } from './table.ts'

const [server = '', seconds = '2', rounds = '3'] = Bun.argv.slice(2)
const atOnce = 64
const { url, admin, drop } = await emptyDatabase(server)
const [setting] = await admin`show fsync`
const db = openPostgres(url)
try {
  await migratePostgres(db.drizzle, systemClock.now())
  const many = await compare(atOnce)
  const hot = await compare(1)
  console.log(JSON.stringify({ many, hot, fsync: setting.fsync }))
} finally {
  await db.close()
  await drop()
}

async function compare(accounts: number): Promise<number> {
  const ours = await openRuns(db, accounts)
  const plain = await openPlain(url, accounts)
  const shares: number[] = []
  // Each connection prepares its own statements, for every length of a batch.
  for (const once of [ours, plain.runOnce]) await measureTurns(once, atOnce, 3)
  for (let round = 0; round < Number(rounds); round++) {
    const mine = await measureTurns(ours, atOnce, Number(seconds))
    const theirs = await measureTurns(plain.runOnce, atOnce, Number(seconds))
    shares.push(mine.perSecond / theirs.perSecond)
    const [a, b] = [mine, theirs].map(({ perSecond }) => perSecond.toFixed(0))
    console.error(`  ${accounts} accounts: ${a} runs/s, in interactive transactions ${b}`)
  }
  await plain.close()
  return middle(shares)
}
