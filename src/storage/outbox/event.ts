/** The types of events and their content. */
import type { Json } from '../../kernel/canonical.ts'

/** Types of an account's events, with their descriptions on pages. */
export const accountEvents = {
  'run.ended': 'A run ended, with its cost and its receipt. Off unless it is chosen.',
  'key.created': 'A key was created.',
  'key.rotated': 'A key got a new secret.',
  'key.paused': 'A key was paused.',
  'key.revoked': 'A key was revoked.',
  'key.expiring': 'A key expires in seven days, or in one.',
  'key.cap_reached': 'A key spent 50, 80 or 100 % of its cap.',
  'balance.low': 'The balance fell below the threshold of the account.',
  'balance.exhausted': 'The balance does not pay for the next run.',
  'deposit.credited': 'A deposit was credited.',
  'deposit.finalized': 'The block of a deposit became final.',
  'deposit.reversed': 'A credited deposit left the chain and was taken back.',
  'plan.renewed': 'A plan was paid for another period.',
  'plan.lapsed': 'A plan ended, because the balance did not pay for it.',
  'receipt.shared': 'A receipt was made visible to others.',
  'brake.pulled': 'A brake paused a key that spent too fast.',
  'leak.reported': 'A report named the secret of a key, which was paused.',
  'webhook.created': 'A webhook was created: another address hears of the account.',
} as const

/** Types that concern the operator alone. */
export const operatorEvents = {
  'upstream.opened': 'An upstream failed so often that it is not asked for a while.',
  'upstream.closed': 'An upstream answers again.',
  'ledger.unbalanced': 'The audit found balances that do not follow from the journal.',
  'log.diverged': 'The log of receipts is not the one that was signed before.',
  'anchor.stuck': 'Receipts wait for their anchor longer than they should.',
  'margin.negative': 'A model cost more than it brought in.',
  'backup.stale': 'The last backup is older than it should be.',
} as const

export type AccountEventType = keyof typeof accountEvents
export type OperatorEventType = keyof typeof operatorEvents
export type EventType = AccountEventType | OperatorEventType

/** An event before it is written. */
export type NewEvent = {
  type: EventType
  /** Empty for events that concern the operator alone. */
  account: string
  /**
   * The id of a key, run, deposit or subscription, or the account. Events of one subject arrive in
   * order.
   */
  subject: string
  /** Members beside type, id, time and account: ids as `key_id`, amounts as `…_nusd`. */
  data: Record<string, Json>
}
