/** A movement: one line that changed the balance of an account. */
import type { Millis } from '../../kernel/clock.ts'
import type { TransferRow } from '../../storage/db/schema/schema.ts'

/**
 * What changed the balance of an account: a line of the ledger's journal, with what it came to.
 * The amounts of all lines add up to the balance, because each says what was there after it.
 */
export type Movement = Pick<TransferRow, 'ref' | 'kind' | 'at' | 'seq' | 'amount' | 'balance'> &
  Pick<TransferRow, 'source' | 'target'>

/** Where a line stands in its account's statement; what a list goes on after. */
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
