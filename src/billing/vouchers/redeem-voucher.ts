/** Redeems a voucher for an account, with its audit entry; limits guesses. */
import type { Deps } from '../../app/deps-port.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { Once } from '../../ledger/once.ts'
import { type Redeemed, redeem, refuseVoucher } from '../../ledger/selling.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { codeHash } from './code.ts'
import type { RedemptionAnswer } from './shapes.ts'

type Needs = Pick<Deps, 'ids' | 'ledger'>

/** Counts unknown codes. */
export type Guesses = {
  /** @throws Refusal `rate_limited` when none is left */
  assertLeft(): void
  count(): void
}

export type RedeemWish = {
  account: string
  code: string
  /** A key or the account. */
  actor: string
  guesses: Guesses
  once?: Once<Redeemed> | undefined
}

/**
 * Credits a voucher to an account. Counts unknown codes, and looks no code up once the limit is
 * reached.
 * @throws Refusal `not_found`, `gone`, `conflict`, `rate_limited`
 */
export async function redeemVoucher(deps: Needs, wish: RedeemWish): Promise<Redeemed> {
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
      voucher: hash,
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

/** `isRoot`: whether who redeems may know what the account has. */
export const toRedemptionView = (
  { account, isRoot }: { account: string; isRoot: boolean },
  made: Redeemed,
): RedemptionAnswer => ({
  id: made.ref,
  object: 'voucher.redemption',
  account: toChecksumAddress(account),
  amount_nusd: toJsonInteger(made.amount),
  balance_nusd: isRoot ? toJsonInteger(made.balance) : null,
})
