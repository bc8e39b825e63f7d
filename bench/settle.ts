/**
 * `bun bench/settle.ts <grown database> <empty database> [seconds] [rounds]`: what a hold and a
 * settle cost in process where there are 10^6 receipts, and where there are none.
 */

import { systemClock } from '../src/kernel/clock.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import { measureTurns, openRuns } from './ledger-runs.ts'
import { middle } from './table.ts'

const [grownFile = '', emptyFile = '', seconds = '2', rounds = '3'] = Bun.argv.slice(2)
const open = async (name: string, file: string) => {
  const db = openSqlite(file)
  migrateSqlite(db.raw, systemClock.now(), () => {})
  const costs: number[] = []
  return { name, db, runOnce: await openRuns(db, 4), costs }
}
const grown = await open('grown', grownFile)
const empty = await open('empty', emptyFile)
for (const { runOnce } of [grown, empty]) await measureTurns(runOnce, 32, Number(seconds))
for (let round = 0; round < Number(rounds); round++) {
  for (const { name, runOnce, costs } of [empty, grown]) {
    const { cpuUs, perSecond } = await measureTurns(runOnce, 32, Number(seconds))
    costs.push(cpuUs)
    console.error(`  ${name}  ${cpuUs.toFixed(1)} µs CPU a run  ${perSecond.toFixed(0)} runs/s`)
  }
}
console.log(JSON.stringify({ share: middle(grown.costs) / middle(empty.costs) }))
for (const { db } of [grown, empty]) await db.close()
