/** The interface of a sum over the log, which gets each logged receipt once and in log order. */
import type { Nusd } from '../../kernel/money.ts'
import type { EndedRun } from '../db/schema/schema.ts'
import type { Query, Work } from '../db/sql/query-steps.ts'

/** The parts of a logged receipt that counters read. */
export type CountedReceipt = Pick<
  EndedRun,
  | 'accountId'
  | 'keyId'
  | 'kind'
  | 'model'
  | 'route'
  | 'status'
  | 'lines'
  | 'cost'
  | 'passport'
  | 'startedAt'
  | 'firstByteAt'
  | 'finishedAt'
> & {
  place: number
  /** The operator's own cost of the run; null if it is unknown. */
  wholesale: Nusd | null
}

/**
 * A sum over the log. It covers the receipts before its own cursor, so a counter that is new to a
 * database begins at the first receipt.
 */
export type Counter = {
  /** Its cursor is the fact `<name>.cursor`. */
  name: string
  /** Adds new receipts in log order, inside the transaction that moves the cursor. */
  add: (q: Query, receipts: readonly CountedReceipt[]) => Work<void>
}

/** Names the fact that holds the first place in the log that a counter has not counted. */
export const cursorOf = ({ name }: Pick<Counter, 'name'>): string => `${name}.cursor`
