/** The database probes of the status. */
import { sql } from 'drizzle-orm'
import { within } from '../../kernel/within.ts'
import type { Db } from '../../storage/db/db.ts'
import { schemaVersion } from '../../storage/db/migrate.ts'
import { prepared } from '../../storage/db/query-steps.ts'
import { probeMs } from './health.ts'

export type StatusStore = ReturnType<typeof statusStore>

export function statusStore(db: Db) {
  const { facts } = db.tables
  return {
    database: { engine: db.engine, schema: schemaVersion(db.engine) },
    /** Why it cannot store anything now. */
    trouble: () => db.storage?.trouble(),
    /** Whether the database responds within `probeMs`. */
    ping: async (): Promise<boolean> => {
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
