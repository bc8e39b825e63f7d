/** Tells that a balance or a cap is used up: it is too little for a run that was refused. */
import type { Deps } from '../app/deps-port.ts'
import type { Shortage } from '../ledger/hold.ts'
import { alertCapUsedUp, exhausted } from '../ledger/spend-alerts.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'
import type { WindowRow } from '../storage/db/schema/schema.ts'

/** A cap counts as used up by a refusal only behind the percentage that is told before it. */
const nearlyAll = 80

/**
 * The shortage that a refused hold proves. Read in its command, which itself writes nothing.
 * Undefined if it was told before, or if runs in flight may leave enough.
 */
export function shortfallOf(
  unit: UnitOfWork,
  account: string,
  shortage: Shortage,
): Shortfall | undefined {
  const { room, key, required } = shortage
  if (room.limitedBy === 'max_cost_per_run') return undefined
  if (!key) return endsBalance(unit, account, required) ? { account, required } : undefined
  const shortfall = { account, required, keyId: key.id, lineage: key.lineage }
  return endsCap(unit.window(key), required) ? shortfall : undefined
}

export type Shortfall = { account: string; required: bigint; keyId?: string; lineage?: string[] }

const endsBalance = (unit: UnitOfWork, id: string, required: bigint): boolean => {
  const account = unit.account(id)
  return account?.exhaustedAt === null && account.balance < required
}

const endsCap = ({ told, limit, spent }: WindowRow, required: bigint): boolean =>
  told !== null && told >= nearlyAll && told < 100 && limit - spent < required

/** Writes the event, once however many runs are refused. Their refusals do not fail with it. */
export async function recordShortfall(
  { ledger, log }: Pick<Deps, 'ledger' | 'log'>,
  { account, required, keyId, lineage = [] }: Shortfall,
): Promise<void> {
  const told = ledger.post({
    isExempt: true,
    account,
    keys: lineage,
    decide(unit) {
      if (keyId === undefined) tellEndOfBalance(unit, account, required)
      else {
        const key = unit.key(keyId)
        const window = key && unit.window(key)
        if (window && endsCap(window, required)) alertCapUsedUp(unit, account, window)
      }
    },
  })
  await told.catch((error) => log.error('event.not_told', error, { account }))
}

function tellEndOfBalance(unit: UnitOfWork, id: string, required: bigint): void {
  const account = unit.account(id)
  if (!account || !endsBalance(unit, id, required)) return
  account.exhaustedAt = unit.now
  unit.changed('alerts', account)
  unit.addEvent(exhausted(id, account.balance, required))
}
