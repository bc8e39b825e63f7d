/** Credits the operator's money to an account, with an audit entry. */
import type { Deps } from '../app/deps-port.ts'
import type { Nusd } from '../kernel/money.ts'
import { grant } from './ledger.ts'
import type { Once } from './once.ts'

/**
 * Credits `amount` (nano-USD), opening the account if needed, and returns the balance.
 * @throws Refusal `conflict` above the largest balance, `invalid_request` below 1 nano-USD,
 * `idempotency_mismatch`, `idempotency_in_progress`
 */
export function grantCredit(
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  wish: { account: string; amount: Nusd; reason: string; actor: string; once?: Once<Nusd> },
): Promise<Nusd> {
  const id = ids.make('req')
  return ledger.post({
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
