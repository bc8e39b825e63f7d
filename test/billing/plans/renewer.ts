/** A process that renews what is due until it is killed. `bun renewer.ts <file> <now>` */

import { keyStore } from '../../../src/access/keys/store.ts'
import { makePlans } from '../../../src/access/plan-config.ts'
import { renew } from '../../../src/billing/plans/renew.ts'
import { subscriptionStore } from '../../../src/billing/plans/store.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { openLedger } from '../../../src/ledger/post.ts'
import { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'
import { soldPlans } from '../../support/plans.ts'

const [file = '', now = '0'] = process.argv.slice(2)
const clock = { now: () => Number(now), monotonic: () => performance.now() }
const db = openSqlite(file)
const plans = makePlans(soldPlans, { rpm: 6000, concurrency: 1024 })
const deps = {
  ledger: openLedger(db, clock),
  ids: makeIds(clock, systemRandom()),
  keys: keyStore(db, clock, plans),
  plans,
}
const subscriptions = subscriptionStore(db, { clock, node: 'node_renewer' })
const due = await subscriptions.due(clock.now(), undefined, 10_000)
// In small groups, so that there are many commits to be killed in; each is told.
for (let i = 0; i < due.length; i += 3) {
  await Promise.all(due.slice(i, i + 3).map((one) => renew(deps, one)))
  process.stdout.write('.')
}
