/** Reads and shows the balance threshold of an account. */
import type { Deps } from '../../app/deps-port.ts'
import { type Nusd, parseUsd, toJsonInteger } from '../../kernel/money.ts'
import { refuseField } from '../../kernel/refusal.ts'

export const lowBalanceOf = async (
  { accounts }: Pick<Deps, 'accounts'>,
  id: string,
): Promise<Nusd | null> => (await accounts.find(id))?.lowBalance ?? null

export const toAlertsView = (low: Nusd | null) => ({
  object: 'alerts' as const,
  balance_low_nusd: low === null ? null : toJsonInteger(low),
})

/** @throws Refusal `invalid_request` */
export function toLow(sent: number | null): Nusd | null {
  if (sent === null) return null
  if (sent >= 0 && sent <= 9e15) return BigInt(sent)
  return refuseField(
    'balance_low_nusd',
    'Send a threshold of 0 to 9,000,000 USD in nano-USD, or null.',
  )
}

/** @throws Refusal `invalid_request` */
export function readLow(text: string): Nusd | null {
  if (text.trim() === '') return null
  const amount = parseUsd(text.trim().replace(/^\$/, ''))
  if (amount !== undefined && amount >= 0n && amount <= BigInt(9e15)) return amount
  return refuseField('balance_low', 'Enter an amount in USD, such as 5.00, or nothing.')
}
