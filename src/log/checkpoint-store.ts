import { desc, eq } from 'drizzle-orm'
import { type Db, first, prepared, rows } from '../db/db.ts'
import type { CheckpointRow } from '../db/schema.ts'

export type CheckpointStore = ReturnType<typeof checkpointStore>

/** What was signed of the log, for ever. */
export function checkpointStore(db: Db) {
  const { logCheckpoints: checkpoints } = db.tables
  return {
    latest: (): Promise<CheckpointRow | undefined> =>
      db.read(function* (q) {
        const newest = () => q.select().from(checkpoints).orderBy(desc(checkpoints.size)).limit(1)
        return (yield* prepared('log.latest_checkpoint', {}, newest))[0]
      }),
    find: (size: number): Promise<CheckpointRow | undefined> =>
      db.read((q) => first(q.select().from(checkpoints).where(eq(checkpoints.size, size)))),
    /** Adds one, unless its size was signed before, and gives the one that stands. */
    add: (checkpoint: CheckpointRow): Promise<CheckpointRow> =>
      db.write(function* (q) {
        const added = q.insert(checkpoints).values(checkpoint).onConflictDoNothing().returning()
        const [row] = yield* rows(added)
        if (row) return row
        const named = eq(checkpoints.size, checkpoint.size)
        return (yield* first(q.select().from(checkpoints).where(named))) ?? checkpoint
      }),
  }
}
