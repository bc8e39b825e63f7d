/** A movement: one line that changed the balance of an account. */
import type { Millis } from '../../kernel/clock.ts'
import type { TransferRow } from '../../storage/db/schema/schema.ts'

/**
 * A change of an account's balance: a line of the ledger's journal with the balance after it.
 * The amounts of all lines add up to the balance.
 */
export type Movement = Pick<TransferRow, 'ref' | 'kind' | 'at' | 'seq' | 'amount' | 'balance'> &
  Pick<TransferRow, 'source' | 'target'>

/** The place of a line in its account's statement, as the cursor of a list names it. */
export type Place = Pick<TransferRow, 'at' | 'seq'>

export const placeText = ({ at, seq }: Place): string => `${at}-${seq}`

export function readPlace(text: string): Place | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text)
  return match ? { at: Number(match[1]), seq: Number(match[2]) } : undefined
}

export const dayMs = 86_400_000

export const dayOf = (at: Millis): Millis => at - (at % dayMs)

/** A day of an account as the journal has it; its runs are what `beside` does not explain. */
export type LedgerDay = {
  day: Millis
  /** The last line of the day. */
  close: Movement
  /** The last line before it; undefined on the first day. */
  open: Movement | undefined
  /** Movements other than runs, newest first; at most {@link besideMax}. */
  beside: Movement[]
}

/** Lines of a day beside its runs that are read; only a script makes more. */
export const besideMax = 100
