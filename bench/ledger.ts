/**
 * `bun bench/ledger.ts [seconds]`: durable runs a second in process, hold and settle each in a
 * COMMIT with fsync: many at once, as the server does it, against one transaction a command.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/kernel/clock.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import { measureTurns, openRuns } from './ledger-runs.ts'
import { middle } from './table.ts'

const seconds = Number(Bun.argv[2] ?? 2)
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-ledger-'))
const db = openSqlite(join(folder, 'counterfoil.db'))
migrateSqlite(db.raw, systemClock.now(), () => {})
const runOnce = await openRuns(db, 1)
const crowds = [1, 32, 256]
const results = new Map<number, number[]>(crowds.map((crowd) => [crowd, []]))
await measureTurns(runOnce, 64, seconds)
for (let round = 0; round < 3; round++) {
  for (const crowd of crowds) {
    const { perSecond, cpuUs } = await measureTurns(runOnce, crowd, seconds)
    results.get(crowd)?.push(perSecond)
    const rate = perSecond.toFixed(0).padStart(7)
    console.error(
      `  ${String(crowd).padStart(3)} at once ${rate} runs/s  ${cpuUs.toFixed(1)} µs CPU`,
    )
  }
}
const of = (crowd: number): number => middle(results.get(crowd) ?? [])
console.log(JSON.stringify({ at32: of(32) / of(1), at256: of(256) / of(1) }))
await db.close()
rmSync(folder, { recursive: true, force: true })
