/** The rules of vouchers and refunds: a code credits once, refunds never exceed their source. */
import { maxNusd, type Nusd, toJsonInteger } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import type { VoucherBatchRow } from '../storage/db/schema.ts'
import { type Refunded, refundedOf, sellerOf } from './selling-rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** A redeemed voucher. `ref` names it in the journal without revealing its code. */
export type Redeemed = { ref: string; batch: string; amount: Nusd; balance: Nusd }

/**
 * Credits a voucher to an account.
 * @throws Refusal `not_found` for an unknown code, `gone` for one that expired or was revoked,
 * `conflict` for one that was redeemed, past the limit per account, or above the largest balance
 */
export function redeem(unit: UnitOfWork, accountId: string, hash: string): Redeemed {
  const { codes, batches, redemptions, redeemed, added, written } = unit.selling()
  const code = codes.get(hash)
  const batch = code && batches.get(code.batchId)
  const account = unit.account(accountId)
  if (!code || !batch || !account) return refuseVoucher()
  assertRedeemable(batch, unit.now)
  if (redemptions.has(hash)) refuse('conflict', 'This voucher was redeemed already.')
  const seller = sellerOf(accountId, batch.id)
  const count = redeemed.get(seller) ?? 0
  if (batch.perAccount !== null && count >= batch.perAccount) {
    const each = batch.perAccount === 1 ? 'one voucher' : `${batch.perAccount} vouchers`
    refuse('conflict', `An account redeems at most ${each} of this batch.`)
  }
  const balance = credited(account.balance, batch.amount)
  const row = { hash, batchId: batch.id, accountId, at: unit.now }
  redemptions.set(hash, row)
  redeemed.set(seller, count + 1)
  added.push(row)
  batch.redeemed += 1
  written.add(batch)
  account.balance = balance
  unit.changed('account', account)
  const ref = `${batch.id}/${code.serial}`
  const move = { kind: 'voucher', source: 'vouchers', target: 'user' } as const
  unit.addTransfer({ accountId, ref, ...move, amount: batch.amount, at: unit.now })
  return { ref, batch: batch.id, amount: batch.amount, balance }
}

/** @throws Refusal `not_found` */
export function refuseVoucher(): never {
  refuse('not_found', { message: 'There is no such voucher. Check the code.', param: 'code' })
}

function assertRedeemable({ revokedAt, expiresAt }: VoucherBatchRow, now: number): void {
  if (revokedAt !== null) refuse('gone', 'This voucher was withdrawn.')
  if (expiresAt <= now) refuse('gone', 'This voucher has expired.')
}

export type RefundWish = { account: string; ref: string; amount: Nusd }

/** A refund: its name in the journal, and the sum of all refunds of its run or deposit. */
export type RefundMade = { ref: string; refunded: Nusd; balance: Nusd }

/**
 * Gives back the cost of a run, or part of it. The run and the cap of its key stay unchanged.
 * @throws Refusal `conflict` beyond the cost less earlier refunds, `invalid_request`
 */
export function refundRun(unit: UnitOfWork, wish: RefundWish, cost: Nusd): RefundMade {
  const account = unit.account(wish.account)
  if (!account) throw new Error('a refund to an account that was not loaded')
  const before = assertLeft(unit, wish, cost)
  account.balance = credited(account.balance, wish.amount)
  unit.changed('account', account)
  return noteRefund(unit, wish, before, { source: 'refunds', target: 'user' })
}

/**
 * Takes an amount from the balance that the operator pays back outside of the ledger.
 * @throws Refusal `conflict` beyond the final deposit less earlier refunds, or beyond the available
 * balance; `invalid_request`, `not_found`
 */
export function refundDeposit(unit: UnitOfWork, wish: RefundWish): RefundMade {
  const row = unit.deposit(wish.ref)
  const account = unit.account(wish.account)
  if (!row || !account || row.account !== wish.account) return refuse('not_found')
  if (row.status !== 'finalized' || row.amount === null) {
    refuse('conflict', `This deposit is ${row.status}. Refund it once it is final.`)
  }
  // An account that claimed the deposit got only `moved` of it.
  const before = assertLeft(unit, wish, row.moved ?? row.amount)
  if (wish.amount > account.balance - account.held) {
    refuse('conflict', 'The available balance is less than this: the rest is spent or held.')
  }
  account.balance -= wish.amount
  unit.changed('account', account)
  return noteRefund(unit, wish, before, { source: 'user', target: 'deposits' })
}

/** Returns earlier refunds. @throws Refusal `conflict` beyond `most`, `invalid_request` */
function assertLeft(unit: UnitOfWork, { account, ref, amount }: RefundWish, most: Nusd): Refunded {
  const before = refundedOf(unit, account, ref)
  if (amount < 1n) {
    refuse('invalid_request', { message: 'Refund at least 1 nano-USD.', param: 'amount_nusd' })
  }
  const left = most - before.total
  if (amount <= left) return before
  return refuse('conflict', {
    message: `At most ${left} nano-USD of ${ref} can still be refunded.`,
    metadata: { refundable_nusd: toJsonInteger(left) },
  })
}

type Sides = { source: 'refunds' | 'user'; target: 'deposits' | 'user' }

function noteRefund(
  unit: UnitOfWork,
  { account: accountId, ref: of, amount }: RefundWish,
  before: Refunded,
  sides: Sides,
): RefundMade {
  const refunded = before.total + amount
  const count = before.count + 1
  unit.selling().refunded.set(sellerOf(accountId, of), { total: refunded, count })
  const ref = `${of}/${count}`
  unit.addTransfer({ accountId, ref, kind: 'refund', ...sides, amount, at: unit.now })
  return { ref, refunded, balance: unit.account(accountId)?.balance ?? 0n }
}

/** @throws Refusal `conflict` above the largest balance */
function credited(balance: Nusd, amount: Nusd): Nusd {
  if (balance + amount <= maxNusd) return balance + amount
  return refuse('conflict', 'The balance would exceed 9,000,000 USD, the most an account can hold.')
}
