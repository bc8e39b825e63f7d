/** Tables of deposits: transfers of the stablecoin to the treasury. */
import { sql } from 'drizzle-orm'
import type { Columns } from './columns.ts'

export function depositTables(c: Columns) {
  /**
   * A transfer of the stablecoin to the treasury. Its identity is the chain, the transaction, the
   * token, the sender, the units, and its ordinal among the transfers of the transaction that equal
   * it in all of these. No reorg changes that identity, and no row ever gives it up; log index and
   * block say only where the transfer was last seen. A reorg can take a credited deposit away and
   * bring it back: `credits` and `reversals` count that, and only the ledger writes them.
   */
  const deposits = c.table(
    'deposits',
    {
      id: c.text('id').primaryKey(),
      chainId: c.int('chain_id').notNull(),
      txHash: c.text('tx_hash').notNull(),
      logIndex: c.int('log_index').notNull(),
      /** Counts equal transfers of the transaction in the order of their logs, from 0. */
      ordinal: c.int('ordinal').notNull(),
      blockNumber: c.ms('block_number').notNull(),
      blockHash: c.text('block_hash').notNull(),
      /** Null until it was looked at for its credit. */
      blockTime: c.ms('block_time'),
      /** Lower case, as are `from` and `account`. */
      token: c.text('token').notNull(),
      /** Whole units of the token, in decimal: up to 2^256 - 1. */
      tokenAmount: c.text('token_amount').notNull(),
      /** Null when it is more than any balance can hold. */
      amount: c.money('amount_nusd'),
      from: c.text('from_address').notNull(),
      /** The owner: the sender, until another wallet claims it or the operator assigns it. */
      account: c.text('account_id').notNull(),
      status: c
        .text('status')
        .$type<
          'detected' | 'confirming' | 'credited' | 'finalized' | 'orphaned' | 'reversed' | 'ignored'
        >()
        .notNull(),
      /** Why it is ignored or waits. */
      reason: c
        .text('reason')
        .$type<
          | 'below_minimum'
          | 'above_bounds'
          | 'other_shard'
          | 'balance_full'
          | 'second_behind'
          | 'second_differs'
          | 'second_down'
          | null
        >(),
      seenAt: c.ms('seen_at').notNull(),
      creditedAt: c.ms('credited_at'),
      finalizedAt: c.ms('finalized_at'),
      credits: c.int('credits').notNull(),
      /** Credits that were taken back: as many as `credits`, or one fewer while it is credited. */
      reversals: c.int('reversals').notNull(),
      /** The part of a reversed deposit that could not be taken back: the operator's loss. */
      loss: c.money('loss_nusd').notNull(),
      /** The amount that went from the sender's account to another; null if none did. */
      moved: c.money('moved_nusd'),
    },
    (t) => [
      c
        .uniqueIndex('deposits_by_transfer')
        .on(t.chainId, t.txHash, t.token, t.from, t.tokenAmount, t.ordinal),
      c.index('deposits_by_account').on(t.account, t.id),
      c.index('deposits_by_block').on(t.blockNumber),
      c
        .index('deposits_open')
        .on(t.blockNumber, t.id)
        .where(sql`${t.status} in ('detected', 'confirming', 'credited')`),
      c.check('deposits_counted', sql`${t.credits} >= 0 and ${t.loss} >= 0`),
    ],
  )

  return { deposits }
}
