/** Redeems vouchers: a code credits once, with an audit entry; limits guesses. */
import type { Deps } from '../../app/deps-port.ts'
import { type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { creditedBalance } from '../../ledger/grant.ts'
import type { Once } from '../../ledger/once.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { VoucherBatchRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { codeHash } from './code.ts'
import type { RedemptionAnswer } from './shapes.ts'
import { redeemerOf, voucherRows } from './voucher-rows.ts'

/** A redeemed voucher. `ref` names it in the journal without revealing its code. */
export type Redemption = { ref: string; batch: string; amount: Nusd; balance: Nusd }

type Needs = Pick<Deps, 'ids' | 'ledger'>

/** Counts unknown codes. */
export type Guesses = {
  /** @throws Refusal `rate_limited` when none is left */
  assertLeft(): void
  count(): void
}

export type RedeemRequest = {
  account: string
  code: string
  /** A key or the account. */
  actor: string
  guesses: Guesses
  once?: Once<Redemption> | undefined
}

/**
 * Credits a voucher to an account. Counts unknown codes, and looks no code up once the limit is
 * reached.
 * @throws Refusal `not_found`, `gone`, `conflict`, `rate_limited`
 */
export async function redeemVoucher(deps: Needs, wish: RedeemRequest): Promise<Redemption> {
  const { account, actor, guesses } = wish
  guesses.assertLeft()
  const hash = codeHash(wish.code)
  if (hash === undefined) {
    guesses.count()
    return refuseVoucher()
  }
  const id = deps.ids.make('req')
  try {
    return await deps.ledger.post({
      isExempt: true,
      account,
      opens: true,
      keys: [],
      parts: [voucherRows.of({ account, hash })],
      call: wish.once?.scope,
      decide(unit) {
        wish.once?.assertFirst(unit)
        const made = redeem(unit, account, hash)
        const detail = { amount_nusd: String(made.amount), voucher: made.ref }
        const about = { actor, action: 'voucher.redeem', accountId: account, subject: made.batch }
        unit.addAudit({ id, at: unit.now, ...about, detail })
        wish.once?.note(unit, made)
        return made
      },
    })
  } catch (error) {
    if (error instanceof Refusal && error.type === 'not_found') guesses.count()
    throw error
  }
}

/**
 * Credits a voucher to an account.
 * @throws Refusal `not_found` for an unknown code, `gone` for one that expired or was revoked,
 * `conflict` for one that was redeemed, past the limit per account, or above the largest balance
 */
export function redeem(unit: UnitOfWork, accountId: string, hash: string): Redemption {
  const { codes, batches, redemptions, redeemed, added, written } = unit.part(voucherRows)
  const code = codes.get(hash)
  const batch = code && batches.get(code.batchId)
  const account = unit.account(accountId)
  if (!code || !batch || !account) return refuseVoucher()
  assertRedeemable(batch, unit.now)
  if (redemptions.has(hash)) refuse('conflict', 'This voucher was redeemed already.')
  const redeemer = redeemerOf(accountId, batch.id)
  const count = redeemed.get(redeemer) ?? 0
  if (batch.perAccount !== null && count >= batch.perAccount) {
    const each = batch.perAccount === 1 ? 'one voucher' : `${batch.perAccount} vouchers`
    refuse('conflict', `An account redeems at most ${each} of this batch.`)
  }
  const balance = creditedBalance(account.balance, batch.amount)
  const row = { hash, batchId: batch.id, accountId, at: unit.now }
  redemptions.set(hash, row)
  redeemed.set(redeemer, count + 1)
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
function refuseVoucher(): never {
  refuse('not_found', { message: 'There is no such voucher. Check the code.', param: 'code' })
}

function assertRedeemable({ revokedAt, expiresAt }: VoucherBatchRow, now: number): void {
  if (revokedAt !== null) refuse('gone', 'This voucher was withdrawn.')
  if (expiresAt <= now) refuse('gone', 'This voucher has expired.')
}

/** `isRoot`: whether who redeems may know what the account has. */
export const toRedemptionView = (
  { account, isRoot }: { account: string; isRoot: boolean },
  made: Redemption,
): RedemptionAnswer => ({
  id: made.ref,
  object: 'voucher.redemption',
  account: toChecksumAddress(account),
  amount_nusd: toJsonInteger(made.amount),
  balance_nusd: isRoot ? toJsonInteger(made.balance) : null,
})
