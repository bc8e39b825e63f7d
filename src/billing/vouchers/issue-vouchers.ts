/** Creates batches of vouchers, and revokes their unredeemed rest. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { maxNusd, type Nusd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { AuditRow, VoucherBatchRow } from '../../storage/db/schema/schema.ts'
import { codeHash, makeCode } from './code.ts'

type Needs = Pick<Deps, 'clock' | 'ids' | 'random' | 'vouchers'>

/** The most vouchers of one batch. */
export const countMax = 10_000

/** The longest life of a voucher, in ms. */
export const lifeMaxMs = 3660 * 86_400_000

export type BatchRequest = {
  amount: Nusd
  count: number
  lifeMs: number
  perAccount: number | null
  actor: string
}

/** Returns the batch and its codes, which are stored nowhere. @throws Refusal `invalid_request` */
export async function issueVouchers(
  { clock, ids, random, vouchers }: Needs,
  { amount, count, lifeMs, perAccount, actor }: BatchRequest,
): Promise<{ batch: VoucherBatchRow; codes: string[] }> {
  if (amount < 1n || amount > maxNusd) {
    refuse('invalid_request', 'A voucher is worth at least 1 nano-USD, at most 9,000,000 USD.')
  }
  if (!Number.isInteger(count) || count < 1 || count > countMax) {
    refuse('invalid_request', `A batch has 1 to ${countMax} vouchers.`)
  }
  if (lifeMs > lifeMaxMs) refuse('invalid_request', 'A voucher lives at most ten years: 3660d.')
  if (perAccount !== null && (!Number.isInteger(perAccount) || perAccount < 1)) {
    refuse('invalid_request', 'An account must be allowed at least one voucher of the batch.')
  }
  const codes = Array.from({ length: count }, () => makeCode(random))
  const now = clock.now()
  const batch: VoucherBatchRow = {
    id: ids.make('vou'),
    amount,
    count,
    perAccount,
    createdAt: now,
    expiresAt: now + lifeMs,
    revokedAt: null,
    redeemed: 0,
  }
  const detail = {
    amount_nusd: String(amount),
    count,
    per_account: perAccount,
    expires_at: toRfc3339(batch.expiresAt),
  }
  const about = { actor, action: 'voucher.create', accountId: 'operator', subject: batch.id }
  const audit = { id: ids.make('req'), at: now, ...about, detail }
  await vouchers.add(
    batch,
    codes.flatMap((code) => codeHash(code) ?? []),
    audit,
  )
  return { batch, codes }
}

/** Revoking twice changes nothing. @throws Refusal `not_found` */
export async function revokeVouchers(
  { clock, ids, vouchers }: Needs,
  id: string,
  actor: string,
): Promise<VoucherBatchRow> {
  const found = await vouchers.find(id)
  if (!found) return refuse('not_found', 'There is no such batch of vouchers.')
  const at = clock.now()
  const about = { actor, action: 'voucher.revoke', accountId: 'operator', subject: id }
  const toAudit = ({ count, redeemed }: VoucherBatchRow): AuditRow => ({
    id: ids.make('req'),
    at,
    ...about,
    detail: { left: count - redeemed },
  })
  return (await vouchers.revoke(id, at, toAudit)) ?? found
}
