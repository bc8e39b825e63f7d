/** Reads whose slots are, as the database of this shard knows: its word is above any file's. */
import { eq } from 'drizzle-orm'
import type { MovedSlot, Shard } from '../../../kernel/shard.ts'
import { elsewhere, slotOf, slotOfMark } from '../../../kernel/shard.ts'
import type { Db } from '../../db/engine/db.ts'
import type { SlotState } from '../../db/schema/schema-shards.ts'
import { lockFact } from '../../db/sql/facts.ts'
import { prepared, type Query, rows, type Work } from '../../db/sql/query-steps.ts'

/** The fact that says which shard a database is. Its row is locked by what opens an account, and by
 * each step of a move: one of the two sees the other. */
export const shardFact = 'shard'

/** States in which no shard takes anything for a slot. A slot that is `leaving` is still served. */
const isMoving = (state: SlotState): boolean => state === 'left' || state === 'arriving'

/** The slots that moved to or from this shard. */
export function* readMoved(db: Db, q: Query): Work<MovedSlot[]> {
  const { slots } = db.tables
  return (yield* rows(q.select().from(slots))).map(asMoved)
}

const asMoved = ({ slot, shard, state }: SlotRow): MovedSlot => ({
  slot,
  shard,
  isMoving: isMoving(state),
})

type SlotRow = { slot: number; shard: string; state: SlotState }

export type SlotPlaces = {
  /**
   * Reads where a slot is now, before a secret that was not found is called unknown: this process
   * may not have heard that it moved. False for a slot that never moved.
   */
  learn(mark: string): Promise<boolean>
}

/** Learns the shard of a slot from the two characters that its secrets begin with. */
export const slotPlaces = (db: Db, shard: Shard | undefined): SlotPlaces => ({
  async learn(mark) {
    const slot = shard && slotOfMark(mark)
    if (slot === undefined) return false
    const { slots } = db.tables
    const read = (q: Query) =>
      prepared('slot_place', { slot }, (v) => q.select().from(slots).where(eq(slots.slot, v.slot)))
    const [row] = await db.read(read)
    if (row) shard?.note(asMoved(row))
    return row !== undefined
  },
})

/** Tells this process which slots moved; true if that is new. */
export async function learnMoved(db: Db, shard: Shard | undefined): Promise<boolean> {
  return shard ? shard.learn(await db.read((q) => readMoved(db, q))) : false
}

/**
 * The accounts that this shard must not open, each with the reason: the shard that has it, or that
 * its slot is `leaving` or otherwise `moving`. No slot moves before the transaction ends.
 */
export function* misplaced(
  db: Db,
  q: Query,
  shard: Shard,
  accounts: Iterable<string>,
): Work<Map<string, string>> {
  yield* lockFact(db, shardFact)
  const { slots } = db.tables
  const known = new Map((yield* rows(q.select().from(slots))).map((row) => [row.slot, row]))
  const found = new Map<string, string>()
  for (const account of accounts) {
    const row = known.get(slotOf(account))
    if (row && row.state !== 'here' && row.state !== 'stayed') {
      const moves = row.state === 'leaving' ? 'leaving' : 'moving'
      found.set(account, row.state === 'gone' ? row.shard : moves)
    } else if (!row) {
      const other = elsewhere(shard, account)
      if (other !== undefined) found.set(account, other)
    }
  }
  return found
}
