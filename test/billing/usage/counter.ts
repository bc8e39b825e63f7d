/** A process that counts in small batches until it is killed. `bun counter.ts <file>` */

import { usageCounter } from '../../../src/billing/usage/store/usage-counter.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { countStore } from '../../../src/storage/counts/store.ts'
import { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'

const db = openSqlite(process.argv[2] ?? '')
const deps = { clock: systemClock, node: `node_${process.pid}` }
const counts = countStore(db, deps, [usageCounter(db)])
for (;;) {
  const lease = await counts.takeLease()
  if (!lease) throw new Error('no lease')
  const count = await counts.count(lease, 20)
  process.stdout.write(`${count}\n`)
  if (count === 0) await Bun.sleep(1000)
}
