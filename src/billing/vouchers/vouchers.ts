/** What is stored of vouchers, and a batch of them as it is shown. */
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { AuditRow, VoucherBatchRow } from '../../storage/db/schema.ts'

export type VoucherStore = {
  /** Adds a batch and its codes with the audit entry, all or none. */
  add(batch: VoucherBatchRow, hashes: readonly string[], audit: AuditRow): Promise<void>
  /** Every batch, the newest first. */
  list(): Promise<VoucherBatchRow[]>
  find(id: string): Promise<VoucherBatchRow | undefined>
  /** Ends what was not redeemed of a batch; false if it had ended before. */
  revoke(id: string, at: Millis, audit: AuditRow): Promise<boolean>
}

export const toBatchView = (batch: VoucherBatchRow) => ({
  id: batch.id,
  object: 'voucher_batch' as const,
  amount_nusd: toJsonInteger(batch.amount),
  count: batch.count,
  redeemed: batch.redeemed,
  per_account: batch.perAccount,
  created_at: toRfc3339(batch.createdAt),
  expires_at: toRfc3339(batch.expiresAt),
  revoked_at: batch.revokedAt === null ? null : toRfc3339(batch.revokedAt),
})
