/** Opens the ledger of a server, and the clock by which it judges leases. */

import { isAddress } from '../access/accounts/account.ts'
import type { Meters } from '../front/metrics/meters.ts'
import type { Health } from '../front/status/health-port.ts'
import { foreignSchema } from '../front/status/schema.ts'
import { sponsorAccount } from '../front/terminal/sponsor.ts'
import type { Clock } from '../kernel/clock.ts'
import { Refusal } from '../kernel/refusal.ts'
import { elsewhere, elsewhereDetail, type Shard } from '../kernel/shard.ts'
import { skewAdvice, skewOf, wrongClock } from '../kernel/skew.ts'
import { guarded } from '../ledger/guard.ts'
import { type Ledger, openLedger } from '../ledger/post.ts'
import type { Logs } from '../proof/log/logs.ts'
import { nameGuard } from '../proof/log/store/logs.ts'
import type { LogStore } from '../proof/log/store.ts'
import type { Db } from '../storage/db/db.ts'
import { type LeaseClock, openLeaseClock } from '../storage/db/lease-clock.ts'

/** @throws Error that names both clocks while that of this machine is wrong. */
export async function openRightClock(db: Db, clock: Clock): Promise<LeaseClock> {
  const leaseClock = await openLeaseClock(db, clock)
  const aheadMs = leaseClock.aheadMs()
  if (aheadMs === null || skewOf(aheadMs) !== 'wrong') return leaseClock
  throw new Error(`${skewAdvice(aheadMs, clock.now())}, and start again`)
}

export type Clocks = { clock: Clock; leaseClock: LeaseClock }

type Around = Clocks & { logs: Logs; health: Health; shard: Shard | undefined }

/**
 * The ledger, which numbers receipts itself where this process writes alone; elsewhere it makes
 * sure that the log has the name which the receipts give.
 */
export function ledgerOf(
  db: Db,
  store: LogStore,
  meters: Meters,
  { clock, leaseClock, logs, health, shard }: Around,
): Ledger {
  const named = { number: nameGuard(db, logs.current.origin), forget: () => {} }
  const numbering = db.exclusive ? store.numbering : named
  const ledger = openLedger(db, clock, numbering, meters.posted)
  const sharded = shard ? onShard(ledger, shard) : ledger
  return guarded(sharded, () => wrongClock(leaseClock.aheadMs()) ?? foreignSchema(health))
}

/**
 * A ledger that opens accounts of its shard alone: an account that two shards opened would have two
 * balances. The terminal's own account stands on each.
 */
export const onShard = (ledger: Ledger, shard: Shard): Ledger => ({
  post(command) {
    const opened = command.opens ? [command.account, command.to ?? command.account] : []
    const other = opened
      .filter((account) => account !== sponsorAccount && isAddress(account))
      .map((account) => elsewhere(shard, account))
      .find((found) => found !== undefined)
    if (other === undefined) return ledger.post(command)
    return Promise.reject(new Refusal('misdirected_request', elsewhereDetail(other)))
  },
})
