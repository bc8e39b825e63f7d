/** The database reads of a scrape, whose cost does not grow with the age of the service. */
import { count, isNull, min } from 'drizzle-orm'
import type { Db } from '../../storage/db/db.ts'
import { first } from '../../storage/db/query-steps.ts'

export type MetricsStore = {
  /** Bytes of the write-ahead log; null where the database has none of its own. */
  walBytes(): number | null
  /** The open runs of all nodes, each with a hold; found by the index of open runs. */
  openHolds(): Promise<{ count: number; oldestAt: number | null }>
}

export function metricsStore(db: Db): MetricsStore {
  const { runs } = db.tables
  return {
    walBytes: () => db.walBytes(),
    openHolds: async () => {
      const found = await db.read((q) =>
        first(
          q
            .select({ n: count(), oldest: min(runs.createdAt) })
            .from(runs)
            .where(isNull(runs.finishedAt)),
        ),
      )
      const oldest = found?.oldest
      return {
        count: Number(found?.n ?? 0),
        oldestAt: oldest === null || oldest === undefined ? null : Number(oldest),
      }
    },
  }
}
