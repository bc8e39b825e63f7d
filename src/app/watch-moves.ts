/** Finds moves of slots whose command died: their accounts wait until it is run again. */
import type { Db } from '../storage/db/engine/db.ts'
import { stalledMoves } from '../storage/slots/store/move-lease.ts'
import type { Deps } from './deps-port.ts'

/** Notes them in the health, and logs each once. */
export async function watchMoves(deps: Deps, db: Db): Promise<void> {
  const { health, log, leaseClock, shard } = deps
  if (!shard) return
  const found = await db.read((q) => stalledMoves(db, q, leaseClock.now()))
  for (const { id, slots, way, peer } of found) {
    if (health.stalledMoves.includes(id)) continue
    log.error('slots.move_stalled', new Error(moveAdvice), { move: id, slots, way, peer })
  }
  const ids = found.map(({ id }) => id)
  for (const id of health.stalledMoves) {
    if (!ids.includes(id)) log.info('slots.move_goes_on', { move: id })
  }
  health.stalledMoves = ids
}

const moveAdvice =
  'the command that moves these slots is gone, and their accounts get 503: run counterfoil slot ' +
  'move again with the same slots and files, or with --give-up to leave them'
