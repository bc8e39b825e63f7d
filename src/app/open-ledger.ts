/** Opens the ledger of a server, and the clock by which it judges leases. */

import { sponsorAccount } from '../access/accounts/account.ts'
import type { Health } from '../front/status/health-port.ts'
import { foreignSchema } from '../front/status/schema.ts'
import type { Clock } from '../kernel/clock.ts'
import { Refusal } from '../kernel/refusal.ts'
import { elsewhere, elsewhereDetail, type Shard, slotMoving } from '../kernel/shard.ts'
import { skewAdvice, skewOf, wrongClock } from '../kernel/skew.ts'
import type { FreeLimits } from '../ledger/free-writes.ts'
import { guarded } from '../ledger/guard.ts'
import { type Ledger, type Misplaced, type Numbering, openLedger } from '../ledger/post.ts'
import type { Posted } from '../ledger/unit-of-work.ts'
import type { Logs } from '../proof/log/logs.ts'
import { nameGuard } from '../proof/log/store/logs.ts'
import type { LogStore } from '../proof/log/store.ts'
import type { CountStore } from '../storage/counts/store.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { type LeaseClock, openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { misplaced } from '../storage/slots/store/owners.ts'
import { isAddress } from '../verify/address.ts'
import type { Meters } from './metrics/meters.ts'

/** @throws Error that names both clocks while that of this machine is wrong. */
export async function openRightClock(db: Db, clock: Clock): Promise<LeaseClock> {
  const leaseClock = await openLeaseClock(db, clock)
  const aheadMs = leaseClock.aheadMs()
  if (aheadMs === null || skewOf(aheadMs) !== 'wrong') return leaseClock
  throw new Error(`${skewAdvice(aheadMs, clock.now())}, and start again`)
}

export type Clocks = { clock: Clock; leaseClock: LeaseClock }

type LedgerContext = Clocks & {
  logs: Logs
  health: Health
  shard: Shard | undefined
  counts: Pick<CountStore, 'note' | 'place'>
  settings: FreeLimits
}

/**
 * The ledger, which numbers receipts itself where this process writes alone; elsewhere it makes
 * sure that the log has the name which the receipts give.
 */
export function ledgerOf(
  db: Db,
  store: LogStore,
  meters: Meters,
  { clock, leaseClock, logs, health, shard, counts, settings }: LedgerContext,
): Ledger {
  const named = { number: nameGuard(db, logs.current.origin), forget: () => {} }
  const numbering = db.exclusive ? store.numbering : named
  const tell = (posted: Posted): void => {
    meters.posted(posted)
    const { ended, costs } = posted.added
    if (!db.exclusive) store.note(ended)
    counts.note(ended, costs)
  }
  store.onNumbered(counts.place)
  const opened = openSharded(db, clock, shard, { numbering, tell, free: settings })
  return guarded(opened, () => wrongClock(leaseClock.aheadMs()) ?? foreignSchema(health))
}

type LedgerCompanions = {
  numbering?: Numbering
  tell?: Parameters<typeof openLedger>[3]
  free?: FreeLimits
}

/** The ledger of a shard, or of a service without shards. */
export function openSharded(
  db: Db,
  clock: Pick<Clock, 'now'>,
  shard: Shard | undefined,
  { numbering, tell, free }: LedgerCompanions = {},
): Ledger {
  if (!shard) return openLedger(db, clock, numbering, tell, undefined, free)
  return onShard(openLedger(db, clock, numbering, tell, misplacedOf(db, shard), free), shard)
}

/** The terminal's own account stands on each shard. */
const hasSlot = (account: string): boolean => account !== sponsorAccount && isAddress(account)

const misplacedOf = (db: Db, shard: Shard): Misplaced =>
  function* (q, accounts) {
    const refused = new Map<string, Refusal>()
    const found = yield* misplaced(db, q, shard, [...accounts].filter(hasSlot))
    for (const [account, where] of found) {
      const isMoving = where === 'moving' || where === 'leaving'
      const detail = elsewhereDetail(where)
      const refusal = isMoving ? slotMoving() : new Refusal('misdirected_request', detail)
      refused.set(account, refusal)
    }
    return refused
  }

/**
 * A ledger that opens accounts of its shard alone: an account that two shards opened would have two
 * balances. What it knows can be a second old; {@link misplacedOf} has the last word.
 */
const onShard = (ledger: Ledger, shard: Shard): Ledger => ({
  post(command) {
    const opened = command.opens ? [command.account, command.to ?? command.account] : []
    const other = opened
      .filter(hasSlot)
      .map((account) => elsewhere(shard, account))
      .find((found) => found !== undefined)
    if (other === undefined) return ledger.post(command)
    return Promise.reject(new Refusal('misdirected_request', elsewhereDetail(other)))
  },
})
