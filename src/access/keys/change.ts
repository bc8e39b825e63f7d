/** Changes what a key may do, within what its parent has now. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { max, type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { type RightsChange, withRights } from './bounds.ts'
import { findKey, postForKey } from './command-key.ts'
import type { KeyCommand } from './key.ts'
import { type LimitsChange, withLimits } from './key-limits.ts'
import { differenceOf, noteKey, toDetail } from './note.ts'

/** Absent members stay as they are. */
export type KeyChange = LimitsChange & RightsChange

/**
 * Changes a key. Its children keep their values; the lowest limit of a chain applies.
 * @throws Refusal `not_found`, `invalid_request` with `param`, or `conflict` for a key that is
 * revoked, or a cap below what its window has spent and holds.
 */
export async function changeKey(
  deps: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { change, ...command }: KeyCommand & { change: KeyChange },
): Promise<KeyRow> {
  return postForKey(deps, await findKey(deps, command.keyId), command, {
    isRepair: true,
    decide(unit, key, [, parent]) {
      const next = toChanged(key, parent, change, unit.now)
      if (next.capLimit < key.capLimit) assertCovered(unit, key, next.capLimit)
      const detail = differenceOf(toDetail(key), toDetail(next))
      if (Object.keys(detail).length === 0) return
      Object.assign(key, next)
      unit.changed('key', key)
      noteKey(unit, deps.ids, key, { actor: command.actor, action: 'key.change', detail })
      const window = unit.window(key)
      // A clock behind the one that lowered the cap may be in a window that has taken more.
      window.limit = max(key.capLimit, window.spent + window.held)
      unit.changed('window', window)
    },
  })
}

/** The key after the change; only changed fields are checked against the parent. */
function toChanged(
  key: KeyRow,
  parent: KeyRow | undefined,
  change: KeyChange,
  now: Millis,
): KeyRow {
  // The clock may have been set back; a key never expires before its creation.
  const from = Math.max(now, key.createdAt)
  return { ...key, ...withLimits(key, change), ...withRights(key, change, parent, from) }
}

/** A cap is never below what its window has spent and holds. */
function assertCovered(unit: UnitOfWork, key: KeyRow, limit: Nusd): void {
  const { spent, held } = unit.window(key)
  const least = spent + held
  if (limit >= least) return
  refuse('conflict', {
    param: 'cap.limit_nusd',
    message: `The key has spent and holds ${least} nano-USD. Send a cap of at least that.`,
    metadata: {
      smallest_nusd: toJsonInteger(least),
      spent_nusd: toJsonInteger(spent),
      held_nusd: toJsonInteger(held),
    },
  })
}
