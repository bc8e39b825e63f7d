/** Stores signed checkpoints, for ever. */
import { and, asc, desc, eq, gt } from 'drizzle-orm'
import { fromHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { CheckpointRow } from '../../../storage/db/schema/schema.ts'
import { findFact } from '../../../storage/db/sql/facts.ts'
import {
  first,
  prepared,
  type Query,
  rows,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import type { Signers } from '../../signer/signers.ts'

export type CheckpointStore = {
  latest(issuer: string): Promise<CheckpointRow | undefined>
  find(issuer: string, size: number): Promise<CheckpointRow | undefined>
  /** The first checkpoint over more than `size` leaves; dates the next leaf approximately. */
  firstOver(issuer: string, size: number): Promise<CheckpointRow | undefined>
  /** Adds a checkpoint unless its size was signed before. Returns the stored one. */
  add(checkpoint: CheckpointRow): Promise<CheckpointRow>
}

export function checkpointStore(
  db: Db,
  { wasSignedAgain }: Pick<Signers, 'wasSignedAgain'>,
): CheckpointStore {
  const { logCheckpoints: checkpoints } = db.tables

  const valid = async (row: CheckpointRow | undefined): Promise<CheckpointRow | undefined> => {
    if (!row || !wasSignedAgain(row.issuer, row.size)) return row
    const again = await findFact(db, againFact(row.issuer, row.size))
    return again ? { ...row, signature: fromHex(again) } : row
  }

  return {
    latest: async (issuer) =>
      valid(
        await db.read(function* (q) {
          const newest = ({ issuer: named }: { issuer: string }) =>
            q
              .select()
              .from(checkpoints)
              .where(eq(checkpoints.issuer, named))
              .orderBy(desc(checkpoints.size))
              .limit(1)
          return (yield* prepared('log.latest_checkpoint', { issuer }, newest))[0]
        }),
      ),
    find: async (issuer, size) =>
      valid(
        await db.read((q) => {
          const named = and(eq(checkpoints.issuer, issuer), eq(checkpoints.size, size))
          return first(q.select().from(checkpoints).where(named))
        }),
      ),
    firstOver: (issuer, size) =>
      db.read(function* (q) {
        const over = (values: { issuer: string; size: number }) =>
          q
            .select()
            .from(checkpoints)
            .where(and(eq(checkpoints.issuer, values.issuer), gt(checkpoints.size, values.size)))
            .orderBy(asc(checkpoints.size))
            .limit(1)
        return (yield* prepared('log.first_checkpoint_over', { issuer, size }, over))[0]
      }),
    add: (checkpoint) => db.write((q) => addCheckpoint(db, q, checkpoint)),
  }
}

/** {@link CheckpointStore.add} in the caller's transaction. */
export function* addCheckpoint(db: Db, q: Query, checkpoint: CheckpointRow): Work<CheckpointRow> {
  const { logCheckpoints: checkpoints } = db.tables
  const added = q.insert(checkpoints).values(checkpoint).onConflictDoNothing().returning()
  const [row] = yield* rows(added)
  if (row) return row
  const { issuer, size } = checkpoint
  const named = and(eq(checkpoints.issuer, issuer), eq(checkpoints.size, size))
  return (yield* first(q.select().from(checkpoints).where(named))) ?? checkpoint
}

/** The fact that holds the second signature of a checkpoint, whose row never changes. */
export const againFact = (issuer: string, size: number): string => `signature/${size}/${issuer}`
