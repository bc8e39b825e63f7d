/** Credits the balance of another gateway, once ever for each of its owners. */
import type { Deps } from '../app/deps-port.ts'
import type { Nusd } from '../kernel/money.ts'
import { grant } from './grant.ts'
import { type BookedGrant, grantRows } from './grant-rows.ts'

type OnceGrant = {
  /** Made of the owner's id there: its reference in the journal and the audit. */
  id: string
  account: string
  amount: Nusd
  /** The owner there, for the audit. */
  source: string
  reason: string
  actor: string
}

/**
 * Credits `amount` (nano-USD), opening the account if needed. Where the id is booked already it
 * changes nothing and returns that grant, of whichever account it is.
 * @throws Refusal `conflict` above the largest balance, `invalid_request` below 1 nano-USD
 */
export function grantOnce(
  { ledger }: Pick<Deps, 'ledger'>,
  { id, account, amount, source, reason, actor }: OnceGrant,
): Promise<BookedGrant & { isNew: boolean }> {
  return ledger.post({
    isExempt: true,
    account,
    opens: true,
    keys: [],
    parts: [grantRows.of(id)],
    decide(unit) {
      const booked = unit.part(grantRows)
      const known = booked.get(id)
      if (known) return { ...known, isNew: false }
      grant(unit, account, amount, id)
      const detail = { amount_nusd: amount.toString(), reason, source }
      unit.addAudit({
        ...{ id, at: unit.now, actor, action: 'grant', accountId: account, subject: account },
        detail,
      })
      booked.set(id, { account, amount })
      return { account, amount, isNew: true }
    },
  })
}
