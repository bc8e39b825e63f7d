/** The data that a wallet needs to send a deposit. */
import { chainId } from '../../kernel/chain.ts'
import { type Nusd, toJsonInteger, toUsd } from '../../kernel/money.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import type { DepositPolicy } from './deposit.ts'
import type { DepositAddressAnswer } from './shapes.ts'

/** The link contains the amount, if given. */
export type Payment = { treasury: string; token: string; amount: Nusd | undefined; link: string }

/** A deposit as a link that wallets open (EIP-681), rounded up to a unit of the token. */
export function paymentOf(policy: DepositPolicy, amount: Nusd | undefined): Payment {
  const treasury = toChecksumAddress(policy.treasury)
  const token = toChecksumAddress(policy.token)
  const sum = amount === undefined ? '' : `&uint256=${unitsOf(amount, policy.decimals)}`
  const link = `ethereum:${token}@${chainId}/transfer?address=${treasury}${sum}`
  return { treasury, token, amount, link }
}

/** The least units of a token that are worth an amount. */
export function unitsOf(amount: Nusd, decimals: number): bigint {
  if (decimals >= 9) return amount * 10n ** BigInt(decimals - 9)
  const size = 10n ** BigInt(9 - decimals)
  return (amount + size - 1n) / size
}

/** The answer of `POST /api/portal/deposits`. */
export const toPaymentView = (policy: DepositPolicy, payment: Payment): DepositAddressAnswer => ({
  object: 'deposit_address',
  chain_id: chainId,
  treasury: payment.treasury,
  token: payment.token,
  token_decimals: policy.decimals,
  min_nusd: toJsonInteger(policy.minNusd),
  amount_nusd: payment.amount === undefined ? null : toJsonInteger(payment.amount),
  amount_usd: payment.amount === undefined ? null : toUsd(payment.amount),
  token_amount:
    payment.amount === undefined ? null : unitsOf(payment.amount, policy.decimals).toString(),
  link: payment.link,
})
