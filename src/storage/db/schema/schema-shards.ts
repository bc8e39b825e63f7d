/** Tables of slots that moved to or from this shard. Empty without shards. */
import type { Columns } from './columns.ts'

/**
 * The place of a slot, as this database knows. Here: `leaving` and not yet gone, `left` and not
 * known to be stored there, `gone`. There: `arriving` and not yet stored, `here`. `stayed` after a
 * move that was given up.
 */
export type SlotState = 'leaving' | 'left' | 'gone' | 'arriving' | 'here' | 'stayed'

export function shardTables(c: Columns) {
  /** A slot that began to move at least once; the file of all shards says the others. */
  const slots = c.table('slots', {
    slot: c.int('slot').primaryKey(),
    /** Its owner. */
    shard: c.text('shard').notNull(),
    state: c.text('state').$type<SlotState>().notNull(),
    /** Its last move. */
    move: c.text('move').notNull(),
  })

  /** A move of slots, as this side has it. Never deleted. */
  const slotMoves = c.table('slot_moves', {
    id: c.text('id').primaryKey(),
    way: c.text('way').$type<'out' | 'in'>().notNull(),
    /** The other shard. */
    peer: c.text('peer').notNull(),
    slots: c.json<number[]>('slots').notNull(),
    state: c.text('state').$type<SlotState>().notNull(),
    /** SHA-256 of the rows that moved, in hex; null before. */
    digest: c.text('digest'),
    accounts: c.int('accounts').notNull(),
    /** All balances that moved. */
    amount: c.money('amount').notNull(),
    begunAt: c.ms('begun_at').notNull(),
    endedAt: c.ms('ended_at'),
  })

  /** The rows that a move carries, kept on its way until the other shard has it. */
  const slotMoveRows = c.table(
    'slot_move_rows',
    {
      move: c.text('move').notNull(),
      place: c.int('place').notNull(),
      /** The table. */
      kind: c.text('kind').notNull(),
      /** A row of it as JSON. */
      row: c.text('row').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.move, t.place] })],
  )

  /** The part of a window's `spent` that was spent on other shards. */
  const carriedWindows = c.table(
    'carried_windows',
    {
      keyId: c.text('key_id').notNull(),
      windowStart: c.ms('window_start').notNull(),
      amount: c.money('amount').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.keyId, t.windowStart] })],
  )

  return { slots, slotMoves, slotMoveRows, carriedWindows }
}
