/**
 * `bun bench/auth.ts <grown database> [rounds]`: what it costs to tell who asks, of 10^5 keys in
 * trees of five levels: the secret's hash, its caller as remembered, and whether its chain lets it
 * run. The checksum is asked when it is read.
 */

import { assertMay } from '../src/access/keys/needs-key.ts'
import { hashSecret, isSecret } from '../src/access/keys/secret.ts'
import { keyStore } from '../src/access/keys/store.ts'
import { makePlans } from '../src/access/plan-config.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { grown, grownSecret } from './grown-db.ts'
import { costOf } from './log-parts.ts'
import { middle } from './table.ts'

const [file = '', rounds = '5'] = Bun.argv.slice(2)
const db = openSqlite(file)
// It stands still: no one is forgotten after the second that a server remembers callers for.
const now = systemClock.now()
const plans = makePlans([], { rpm: 6000, concurrency: 1024 })
const keys = keyStore(db, { now: () => now, monotonic: () => 0 }, plans)
const secrets = Array.from({ length: grown.keys }, (_, index) => grownSecret(index))

const authenticate = (secret: string) =>
  keys.knownCaller(secret) ?? (isSecret(secret) ? keys.findCaller(hashSecret(secret)) : undefined)

const readUs = await costOf(grown.keys, async () => {
  for (const secret of secrets) await authenticate(secret)
})
// As many as are remembered, in an order that no cache of the processor likes.
const asked = secrets.filter((_, index) => index % grown.levels === grown.levels - 1)
const costs: number[] = []
for (let round = 0; round < Number(rounds) + 3; round++) {
  const cost = await costOf(asked.length, async () => {
    for (let i = 0; i < asked.length; i++) check(asked[(i * 7919) % asked.length] ?? '')
  })
  if (round >= 3) costs.push(cost)
}
console.error(`  read from the database ${readUs.toFixed(1)} µs`)
console.log(JSON.stringify({ cachedUs: middle(costs) }))
await db.close()

function check(secret: string): void {
  const caller = authenticate(secret)
  if (!caller || caller instanceof Promise) throw new Error('a caller was forgotten')
  assertMay(caller, 'runs:write', now, () => '127.0.0.1')
}
