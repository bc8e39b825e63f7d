/** The database probes of the status. */
import { sql } from 'drizzle-orm'
import type { StorageFault } from '../../kernel/storage-fault.ts'
import { within } from '../../kernel/within.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { schemaVersion } from '../../storage/db/schema/migrate.ts'
import type { SlotMoveRow } from '../../storage/db/schema/schema.ts'
import { prepared } from '../../storage/db/sql/query-steps.ts'
import { readMoves } from '../../storage/slots/store/known-moves.ts'
import { probeMs } from './health.ts'

export type StatusStore = {
  database: { engine: Db['engine']; schema: number }
  /** Why it cannot store anything now. */
  trouble(): StorageFault | undefined
  /** Whether the database responds within `probeMs`. */
  ping(): Promise<boolean>
  /** Moves of slots from and to this shard, the oldest first. */
  moves(): Promise<SlotMoveRow[]>
}

export function statusStore(db: Db): StatusStore {
  const { facts } = db.tables
  return {
    database: { engine: db.engine, schema: schemaVersion(db.engine) },
    trouble: () => db.storage?.trouble(),
    moves: () => db.read((q) => readMoves(db, q)),
    ping: async () => {
      try {
        const one = { one: sql`1` }
        const read = db.read((q) => prepared('ping', {}, () => q.select(one).from(facts).limit(1)))
        return (await within(probeMs, read)) !== undefined
      } catch {
        return false
      }
    },
  }
}
