import { accountIn, type Model, must } from './model.ts'

/** What the operator sold and gave back. */
export type ModelSelling = {
  /** By code. */
  vouchers: Map<string, ModelVoucher>
  /** Runs that ended, with what they cost and what was refunded of that. */
  refundable: Map<string, { account: string; came: bigint; refunded: bigint }>
  /** By account and transaction. */
  paidBack: Map<string, bigint>
}

export type ModelVoucher = { batch: ModelBatch; by: string | undefined }
export type ModelBatch = { amount: bigint; expiresAt: number; perAccount: number | null }

export const newSelling = (): ModelSelling => ({
  vouchers: new Map(),
  refundable: new Map(),
  paidBack: new Map(),
})

const maxBalance = 9_000_000_000_000_000n

export function judgeGrant(m: Model, id: string, amount: bigint): string {
  const account = accountIn(m, id)
  if (account.balance + amount > maxBalance) return 'conflict'
  account.balance += amount
  return 'ok'
}

export function judgeSuspend(m: Model, id: string, suspended: boolean): string {
  accountIn(m, id).suspended = suspended
  return 'ok'
}

/** A code credits once, and an account no more of a batch than it may. */
export function judgeRedeem(m: Model, id: string, code: string, now: number): string {
  const voucher = m.vouchers.get(code)
  if (!voucher) return 'not_found'
  const { batch } = voucher
  if (batch.expiresAt <= now) return 'gone'
  if (voucher.by !== undefined) return 'conflict'
  const own = [...m.vouchers.values()].filter((one) => one.batch === batch && one.by === id)
  if (batch.perAccount !== null && own.length >= batch.perAccount) return 'conflict'
  const account = accountIn(m, id)
  if (account.balance + batch.amount > maxBalance) return 'conflict'
  account.balance += batch.amount
  voucher.by = id
  return 'ok'
}

/** Gives back what a run cost: never more than that in all. */
export function judgeRefundOfRun(m: Model, id: string, run: string, amount: bigint): string {
  const found = m.refundable.get(run)
  if (found?.account !== id) return 'not_found'
  if (found.refunded + amount > found.came) return 'conflict'
  found.refunded += amount
  accountIn(m, id).balance += amount
  return 'ok'
}

/** Takes from the balance what is paid back of a deposit: never more than the account has of it. */
export function judgeRefundOfDeposit(m: Model, id: string, tx: string, amount: bigint): string {
  const deposit = must(m.deposits.get(tx))
  if (deposit.account !== id) return 'not_found'
  if (deposit.status !== 'final') return 'conflict'
  const refunded = refundedOf(m, id, tx) + amount
  const account = accountIn(m, id)
  const most = deposit.moved ?? deposit.amount
  if (refunded > most || amount > account.balance - account.held) return 'conflict'
  account.balance -= amount
  m.paidBack.set(`${id} ${tx}`, refunded)
  return 'ok'
}

/** What was paid back of a deposit to an account. */
export const refundedOf = (m: Model, id: string, tx: string): bigint =>
  m.paidBack.get(`${id} ${tx}`) ?? 0n
