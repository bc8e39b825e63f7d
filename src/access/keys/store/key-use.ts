/** Collects when keys were used, and writes it from time to time. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { lockFound, update } from '../../../storage/db/sql/query-steps.ts'
import type { KeyUses } from '../keys.ts'

export function keyUses(db: Db): KeyUses {
  const { keys } = db.tables
  const used = new Map<string, Millis>()
  return {
    noteUse: (keyId, at) => void used.set(keyId, at),
    async writeUses() {
      const noted = [...used].map(([id, lastUsedAt]) => ({ id, lastUsedAt }))
      used.clear()
      if (noted.length === 0) return
      await db.write(function* () {
        // Locks them in the order of the ledger: in another one, both deadlock.
        yield* lockFound(keys, { id: noted.map(({ id }) => id) })
        yield* update(keys, noted, ['lastUsedAt'])
      })
    },
  }
}
