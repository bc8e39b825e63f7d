import { freeId } from '../../access/plan.ts'
import type { Json } from '../../kernel/canonical.ts'
import type { Ids } from '../../kernel/ids.ts'
import { type Nusd, toJsonInteger, toUsd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Book } from '../../ledger/unit-of-work.ts'
import type { AccountRow, SubscriptionRow } from '../../storage/db/schema.ts'

/**
 * What commands do to a subscription, its account and the balance, always together: the plan that
 * runs are priced by is the account's, so that no run has to look for a subscription.
 */

export function accountOf(book: Book, id: string): AccountRow {
  const account = book.account(id)
  if (!account) throw new Error(`a plan for ${id}, which was not opened`)
  return account
}

/** What an account may still pay with. */
export const availableTo = ({ balance, held }: AccountRow): Nusd => balance - held

/** @throws Refusal `insufficient_balance` when the account cannot pay `charge` now. */
export function assertAffordable(account: AccountRow, charge: Nusd, topUpUrl: string): void {
  const available = availableTo(account)
  if (available >= charge) return
  const message =
    `This costs ${toUsd(charge)} USD now, and ${toUsd(available)} USD are available. ` +
    'Nothing was charged; add money first.'
  const metadata = {
    limited_by: 'balance',
    required_nusd: toJsonInteger(charge),
    available_nusd: toJsonInteger(available),
    top_up_url: topUpUrl,
  }
  refuse('insufficient_balance', { message, metadata })
}

/** Pays for the period that a subscription is in; the ref can be there only once. */
export function payPeriod(book: Book, row: SubscriptionRow, amount: Nusd): void {
  if (amount === 0n) return
  const account = accountOf(book, row.accountId)
  if (availableTo(account) < amount) throw new Error(`${row.id} would make a debt`)
  account.balance -= amount
  book.changed('account', account)
  book.addTransfer({
    accountId: row.accountId,
    ref: `${row.id}/${row.periodStart}`,
    kind: 'plan',
    source: 'user',
    target: 'plans',
    amount,
    at: book.now,
  })
}

/** Gives the account a plan, from this command on and until `until`. */
export function setPlan(book: Book, accountId: string, plan: string, until: number | null): void {
  const account = accountOf(book, accountId)
  account.plan = plan
  account.planUntil = until
  book.changed('account', account)
}

/** The account goes back to the free plan. */
export function endSubscription(
  book: Book,
  row: SubscriptionRow,
  status: 'ended' | 'lapsed',
): void {
  Object.assign(row, { status, endedAt: book.now, nextPlan: null })
  book.changed('subscription', row)
  setPlan(book, row.accountId, freeId, null)
}

/** It goes on with its plan, whatever was to happen at the end of the period. */
export function keepSubscription(book: Book, row: SubscriptionRow): void {
  Object.assign(row, { status: 'active', nextPlan: null })
  book.changed('subscription', row)
  setPlan(book, row.accountId, row.plan, null)
}

/** Nothing follows on its period; without one it ends now. */
export function cancelSubscription(book: Book, row: SubscriptionRow): void {
  if (row.periodEnd === null) {
    endSubscription(book, row, 'ended')
    return
  }
  Object.assign(row, { status: 'canceling', nextPlan: null })
  book.changed('subscription', row)
  setPlan(book, row.accountId, row.plan, row.periodEnd)
}

/** What was done to a subscription and by whom, for the audit. */
export function notePlan(
  book: Book,
  ids: Ids,
  row: SubscriptionRow,
  note: { actor: string; action: string; detail: Record<string, Json> },
): void {
  const { action, detail, actor } = note
  const { id: subject, accountId } = row
  book.addAudit({ id: ids.make('req'), at: book.now, actor, action, accountId, subject, detail })
}
