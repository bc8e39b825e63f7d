/** The database reads of a scrape, whose cost does not grow with the age of the service. */
import { count, min } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { first } from '../../storage/db/sql/query-steps.ts'

export type MetricsStore = {
  /** Bytes of the write-ahead log; null where the database has none of its own. */
  walBytes(): number | null
  /** The open runs of all nodes, each with a hold. */
  openHolds(): Promise<{ count: number; oldestAt: number | null }>
}

export function metricsStore(db: Db): MetricsStore {
  const { openRuns } = db.tables
  return {
    walBytes: () => db.walBytes(),
    openHolds: async () => {
      const counted = { n: count(), oldest: min(openRuns.createdAt) }
      const found = await db.read((q) => first(q.select(counted).from(openRuns)))
      const begun = [...db.open.all()].map(({ createdAt }) => createdAt)
      const oldest = found?.oldest
      if (oldest !== null && oldest !== undefined) begun.push(Number(oldest))
      return {
        count: Number(found?.n ?? 0) + db.open.size,
        oldestAt: begun.length === 0 ? null : Math.min(...begun),
      }
    },
  }
}
