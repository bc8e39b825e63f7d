/** Tables of operators that sell: API tokens and vouchers. */
import type { Columns } from './columns.ts'

export function sellingTables(c: Columns) {
  /** A token of the operator API: the SHA-256 of its secret, what it may do and until when. */
  const operatorTokens = c.table(
    'operator_tokens',
    {
      id: c.text('id').primaryKey(),
      hash: c.text('hash').notNull(),
      /** The secret before a rotation, which works until `oldUntil`. */
      oldHash: c.text('old_hash'),
      oldUntil: c.ms('old_until'),
      name: c.text('name').notNull(),
      scopes: c.json<string[]>('scopes').notNull(),
      createdAt: c.ms('created_at').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
      revokedAt: c.ms('revoked_at'),
      /** Exact to a minute. */
      lastUsedAt: c.ms('last_used_at'),
    },
    (t) => [
      c.uniqueIndex('operator_tokens_by_hash').on(t.hash),
      c.index('operator_tokens_by_old_hash').on(t.oldHash),
    ],
  )

  /** A batch of vouchers. Its count, amount and conditions never change. */
  const voucherBatches = c.table('voucher_batches', {
    id: c.text('id').primaryKey(),
    /** The amount of each voucher. */
    amount: c.money('amount').notNull(),
    count: c.int('count').notNull(),
    /** The most that one account may redeem; null for any number. */
    perAccount: c.int('per_account'),
    createdAt: c.ms('created_at').notNull(),
    expiresAt: c.ms('expires_at').notNull(),
    revokedAt: c.ms('revoked_at'),
    /** How many were redeemed so far. */
    redeemed: c.int('redeemed').notNull(),
  })

  /** The SHA-256 of a code, and its batch. */
  const voucherCodes = c.table(
    'voucher_codes',
    {
      hash: c.text('hash').primaryKey(),
      batchId: c.text('batch_id').notNull(),
      /** Its number in the batch, from 1 on, by which the journal names it. */
      serial: c.int('serial').notNull(),
    },
    (t) => [c.index('voucher_codes_by_batch').on(t.batchId, t.serial)],
  )

  /** A code that was redeemed: its primary key lets no code be redeemed twice. */
  const voucherRedemptions = c.table(
    'voucher_redemptions',
    {
      hash: c.text('hash').primaryKey(),
      batchId: c.text('batch_id').notNull(),
      accountId: c.text('account_id').notNull(),
      at: c.ms('at').notNull(),
    },
    (t) => [c.index('voucher_redemptions_by_account').on(t.batchId, t.accountId)],
  )

  return { operatorTokens, voucherBatches, voucherCodes, voucherRedemptions }
}
