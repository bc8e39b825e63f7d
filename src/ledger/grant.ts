import type { Deps } from '../deps.ts'
import type { Nusd } from '../kernel/money.ts'
import { grant } from './ledger.ts'

/**
 * Credits the operator's money to an account, with the reason for the audit, and returns the
 * balance. An account that was never seen is opened.
 * @throws Refusal `conflict` above the bound of a balance, `invalid_request` below 1 nano-USD.
 */
export function grantCredit(
  { ledger, ids }: Pick<Deps, 'ledger' | 'ids'>,
  wish: { account: string; amount: Nusd; reason: string; actor: string },
): Promise<Nusd> {
  const id = ids.make('req')
  return ledger.post({
    account: wish.account,
    opens: true,
    keys: [],
    decide(book) {
      const balance = grant(book, wish.account, wish.amount, id)
      book.addAudit({
        id,
        at: book.now,
        actor: wish.actor,
        action: 'grant',
        accountId: wish.account,
        subject: wish.account,
        detail: { amount_nusd: wish.amount.toString(), reason: wish.reason },
      })
      return balance
    },
  })
}
