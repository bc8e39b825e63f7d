/** The store of vouchers, and the JSON of a batch. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { AuditRow, VoucherBatchRow } from '../../storage/db/schema/schema.ts'

export type VoucherStore = {
  /** Adds a batch, its codes and the audit entry in one transaction. */
  add(batch: VoucherBatchRow, hashes: readonly string[], audit: AuditRow): Promise<void>
  /** Every batch, the newest first. */
  list(): Promise<VoucherBatchRow[]>
  find(id: string): Promise<VoucherBatchRow | undefined>
  /**
   * Revokes the unredeemed vouchers of a batch, with the audit entry of the row as it is then.
   * Returns undefined if it was revoked before.
   */
  revoke(
    id: string,
    at: Millis,
    toAudit: (revoked: VoucherBatchRow) => AuditRow,
  ): Promise<VoucherBatchRow | undefined>
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
  revoked_at: timeOrNull(batch.revokedAt),
})
