/** Pauses the keys that a leaked key made: a thief of its secret may have theirs. */
import type { Deps } from '../../app/deps-port.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { depthOf } from './key.ts'
import { noteKey } from './note.ts'

/** The actor in the audit and the events: reports have no sender. */
export const leakActor = 'leak report'

/**
 * Pauses the keys below a leaked one whose secrets it made, itself or by a key that it made. They
 * stay paused when it is resumed. Returns its id and theirs; the command names it as `below`.
 */
export function containMade(unit: UnitOfWork, ids: Deps['ids'], leaked: KeyRow): string[] {
  const makers = new Set([leaked.id])
  // A maker stands above what it made.
  for (const key of unit.below(leaked.id).sort((a, b) => depthOf(a) - depthOf(b))) {
    if (!makers.has(key.secretBy)) continue
    makers.add(key.id)
    if (key.revokedAt === null) pauseLeaked(unit, ids, key)
  }
  return [...makers]
}

/** Pauses a key whose secret others may have. False if it is paused for that already. */
export function pauseLeaked(unit: UnitOfWork, ids: Deps['ids'], key: KeyRow): boolean {
  if (key.pausedReason === 'leak') return false
  key.pausedAt ??= unit.now
  key.pausedReason = 'leak'
  unit.changed('key', key)
  noteKey(unit, ids, key, { actor: leakActor, action: 'key.pause', detail: { reason: 'leak' } })
  return true
}
