import { freeId, type Plan } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Once } from '../../ledger/once.ts'
import type { Book } from '../../ledger/unit-of-work.ts'
import type { AccountRow, SubscriptionRow } from '../../storage/db/schema.ts'
import { currentOf, type Quote, quoteOf } from './quote.ts'
import {
  accountOf,
  assertAffordable,
  cancelSubscription,
  endSubscription,
  keepSubscription,
  notePlan,
  payPeriod,
  setPlan,
} from './subscription.ts'

/** How long what was shown may be taken at its price, in ms. */
const quotedMs = 600_000

export type SubscribeWish = {
  account: string
  plan: Plan
  /** When its price was shown, so that exactly that is paid; now when undefined. */
  quotedAt?: Millis | undefined
  /** Where the caller sent an Idempotency-Key. */
  once?: Once<Subscribed> | undefined
}

/** What an account has afterwards. */
export type Subscribed = { account: AccountRow; current: SubscriptionRow | undefined }

type Needs = Pick<Deps, 'ledger' | 'ids' | 'keys' | 'plans' | 'settings'>

/**
 * Begins a plan and pays for it, or says what follows on the present one, in one command. Asked
 * for again, it is what the account has, and costs nothing. Gives what stood at the commit.
 * @throws Refusal `insufficient_balance`, or `conflict` for a price shown too long ago.
 */
export async function subscribe(
  deps: Needs,
  { account, plan, quotedAt, once }: SubscribeWish,
): Promise<{ quote: Quote; stands: Subscribed; at: Millis }> {
  const id = deps.ids.make('sub')
  const done = await deps.ledger.post({
    account,
    keys: [],
    subscribes: true,
    call: once?.scope,
    decide(book) {
      once?.assertFirst(book)
      const known = book.subscription(account)
      const at = quotedAt ?? book.now
      assertFresh(at, book.now, deps.plans.since)
      const current = currentOf(known, at)
      const quote = quoteOf(current, plan, at)
      const topUp = `${deps.settings.baseUrl}/dashboard/deposits`
      assertAffordable(accountOf(book, account), quote.charge, topUp)
      if (quote.change === 'now') {
        if (known) endSubscription(book, known, 'ended')
        begin(book, deps, id, account, quote)
      } else if (current) change(book, deps, current, quote)
      const now = book.subscription(account)
      const stands = { account: { ...accountOf(book, account) }, current: now && { ...now } }
      once?.note(book, stands)
      return { quote, stands, at: book.now }
    },
  })
  deps.keys.forgetAccount(account)
  return done
}

/** Prices that came after `at` are not the ones that were shown. */
function assertFresh(at: Millis, now: Millis, pricesSince: Millis): void {
  if (at <= now && at > now - quotedMs && at >= pricesSince) return
  refuse('conflict', {
    param: 'quoted_at',
    message: 'What this costs was shown too long ago. Nothing was charged; look at it again.',
  })
}

function begin(book: Book, { ids }: Needs, id: string, account: string, quote: Quote): void {
  const { plan, charge, credit } = quote
  const row: SubscriptionRow = {
    id,
    accountId: account,
    plan: plan.id,
    status: 'active',
    price: plan.price,
    startedAt: quote.startsAt,
    periodStart: quote.startsAt,
    periodEnd: quote.paidUntil,
    nextPlan: null,
    endedAt: null,
  }
  payPeriod(book, row, charge)
  book.addSubscription(row)
  setPlan(book, account, plan.id, null)
  const detail = {
    plan: plan.id,
    charge_nusd: charge.toString(),
    credit_nusd: credit.toString(),
    period_end: row.periodEnd === null ? null : toRfc3339(row.periodEnd),
  }
  notePlan(book, ids, row, { actor: account, action: 'plan.subscribe', detail })
}

/** What is to follow on the present period, while nothing is paid. */
function change(book: Book, { ids }: Needs, row: SubscriptionRow, quote: Quote): void {
  const before = `${row.status} ${row.nextPlan}`
  if (quote.change === 'cancel') cancelSubscription(book, row)
  else keepSubscription(book, row)
  if (quote.change === 'later') row.nextPlan = quote.plan.id
  if (`${row.status} ${row.nextPlan}` === before) return
  const detail = { plan: row.plan, next: quote.change === 'cancel' ? freeId : quote.plan.id }
  notePlan(book, ids, row, { actor: row.accountId, action: `plan.${quote.change}`, detail })
}
