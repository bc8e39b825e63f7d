/** What a change of money names and decides, before it is posted. */
import type { HoldWindow } from '../storage/db/schema/schema.ts'
import type { PartId } from './part.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * A change of money or of who may spend it. Names the rows it needs, all of one account except
 * where money goes to another. `decide` changes them in the unit of work; a refusal undoes nothing,
 * so it checks everything before its first change.
 */
export type Command<T> = {
  account: string
  /** The account that receives money from `account`. */
  to?: string
  /** Opens `account` and `to` with a zero balance if they do not exist. */
  opens?: boolean
  /** Loads the number of active keys, for a command that adds one. */
  mints?: boolean
  keys: readonly string[]
  /** Windows of keys that are not named: those that an open run was held from. */
  windows?: readonly HoldWindow[]
  /** A key to be changed together with all keys below it. */
  below?: string
  /** A key whose secrets change. */
  secretsOf?: string
  /** An open run to end. */
  run?: string
  /**
   * Only opens a run with its hold, and brings no parts. Where one process writes, both stay in
   * memory until the run has ended or is older than a moment; a crash frees the hold.
   */
  isHold?: boolean
  /** The scope of an idempotent call. */
  call?: string | undefined
  /**
   * Taken also where the budget of free writes is used up: it pays, takes rights away, is the
   * service's or the operator's own, or asks itself, as a run does that may be free.
   */
  isExempt?: boolean
  /** What an owner needs to repair an account: it has twice the budget of free writes. */
  isRepair?: boolean
  /** Rows that the ledger does not know, which `decide` finds by `unit.part`. */
  parts?: readonly PartId[] | undefined
  decide(unit: UnitOfWork): T
}
