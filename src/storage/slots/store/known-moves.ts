/** Reads the moves that a database knows. */
import { sql } from 'drizzle-orm'
import type { Nusd } from '../../../kernel/money.ts'
import type { Db } from '../../db/engine/db.ts'
import type { SlotMoveRow } from '../../db/schema/schema.ts'
import type { SlotState } from '../../db/schema/schema-shards.ts'
import { type Query, rows, type Work } from '../../db/sql/query-steps.ts'
import { ask, list, type Side } from './carried.ts'

/** All moves of a database, the oldest first. */
export function* readMoves(db: Db, q: Query): Work<SlotMoveRow[]> {
  const { slotMoves } = db.tables
  return yield* rows(q.select().from(slotMoves).orderBy(slotMoves.begunAt, slotMoves.id))
}

/** The states of slots in a database, with their last moves; without those that never moved. */
export const standing = ({ pg, tables }: Side, slots: readonly number[]) =>
  ask<{ slot: number; shard: string; state: SlotState; move: string; peer: string }>(
    pg,
    sql`select s.slot, s.shard, s.state, s.move, m.peer from ${tables.slots} as s
      join ${tables.slotMoves} as m on m.id = s.move where s.slot in (${list(slots)})`,
  )

/** The sums of a move; undefined before that. */
export async function findTaken({ pg, tables }: Side, move: string) {
  const [found] = await ask<{ digest: string | null; accounts: number; amount: string }>(
    pg,
    sql`select digest, accounts, amount::text from ${tables.slotMoves} where id = ${move}`,
  )
  if (!found || found.digest === null) return undefined
  const amount: Nusd = BigInt(found.amount)
  return { digest: found.digest, accounts: found.accounts, amount }
}
