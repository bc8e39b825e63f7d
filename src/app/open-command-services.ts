/** Opens what a command needs to change keys and money beside a running server. */
import { accountStore } from '../access/accounts/store.ts'
import { keyStore } from '../access/keys/store.ts'
import { makePlans } from '../access/plan-config.ts'
import type { Config } from '../config/config.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeIds } from '../kernel/ids.ts'
import { systemRandom } from '../kernel/random.ts'
import { wrongClock } from '../kernel/skew.ts'
import { guarded } from '../ledger/guard.ts'
import { ensureShard } from '../proof/log/store/shard.ts'
import { shareStore } from '../proof/receipts/store/share.ts'
import { receiptStore } from '../proof/receipts/store.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { learnMoved } from '../storage/slots/store/owners.ts'
import { textStore } from '../storage/texts/store.ts'
import { openDatabase } from './open-database.ts'
import { openSharded } from './open-ledger.ts'
import { shardIn } from './settings.ts'

/** Stores for commands beside a running server: keys, money, sharing of receipts. */
export async function openCommandServices(config: Config) {
  const { db } = await openDatabase(config)
  const clock = systemClock
  const random = systemRandom()
  const leaseClock = await openLeaseClock(db, clock)
  const shard = shardIn(config)
  await db.write((q) => ensureShard(db, q, shard))
  const plans = makePlans(config.plans, config.limits)
  await learnMoved(db, shard)
  return {
    db,
    clock,
    random,
    ids: makeIds(clock, random, shard?.id),
    shard,
    ledger: guarded(openSharded(db, clock, shard), () => wrongClock(leaseClock.aheadMs())),
    keys: keyStore(db, clock, plans),
    plans,
    accounts: accountStore(db),
    receipts: receiptStore(db),
    shares: shareStore(db),
    texts: textStore(db, clock),
    close: () => db.close(),
    [Symbol.asyncDispose]: () => db.close(),
  }
}
