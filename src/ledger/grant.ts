/** Credits the operator's money to an account, with an audit entry. */
import type { Deps } from '../app/deps-port.ts'
import type { Nusd } from '../kernel/money.ts'
import { maxNusd } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import type { Once } from './once.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** A grant; `id` is its reference in the journal and the audit, made here if it is left out. */
type GrantRequest = {
  account: string
  amount: Nusd
  reason: string
  actor: string
  id?: string
  once?: Once<Nusd> | undefined
}

/**
 * Credits `amount` (nano-USD), opening the account if needed, and returns the balance.
 * @throws Refusal `conflict` above the largest balance, `invalid_request` below 1 nano-USD,
 * `idempotency_mismatch`, `idempotency_in_progress`
 */
export function grantCredit(
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  wish: GrantRequest,
): Promise<Nusd> {
  const { id = ids.make('req') } = wish
  return ledger.post({
    isExempt: true,
    account: wish.account,
    opens: true,
    keys: [],
    call: wish.once?.scope,
    decide(unit) {
      wish.once?.assertFirst(unit)
      const balance = grant(unit, wish.account, wish.amount, id)
      unit.addAudit({
        id,
        at: unit.now,
        actor: wish.actor,
        action: 'grant',
        accountId: wish.account,
        subject: wish.account,
        detail: { amount_nusd: wish.amount.toString(), reason: wish.reason },
      })
      wish.once?.note(unit, balance)
      return balance
    },
  })
}

/**
 * Credits the operator's money to an account and returns its balance.
 * @throws Refusal `conflict` above the largest balance, `invalid_request` below 1 nano-USD.
 */
export function grant(unit: UnitOfWork, accountId: string, amount: Nusd, ref: string): Nusd {
  const account = unit.account(accountId)
  if (!account) throw new Error('a grant to an account that was not opened')
  if (amount < 1n) refuse('invalid_request', 'Grant at least 0.000000001 USD.')
  account.balance = creditedBalance(account.balance, amount)
  unit.changed('account', account)
  unit.addTransfer({
    accountId,
    ref,
    kind: 'grant',
    source: 'grants',
    target: 'user',
    amount,
    at: unit.now,
  })
  return account.balance
}

/** A balance with more money in it. @throws Refusal `conflict` above the largest one */
export function creditedBalance(balance: Nusd, amount: Nusd): Nusd {
  if (balance + amount <= maxNusd) return balance + amount
  return refuse('conflict', 'The balance would exceed 9,000,000 USD, the most an account can hold.')
}
