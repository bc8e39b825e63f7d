/** What the jobs of this process know of its parts, as types alone. */
import type { TokenTrouble } from '../../billing/deposits/token.ts'
import type { ChainTrouble } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Skew } from '../../kernel/skew.ts'

/** What a background check found of the ledger; `checking` until the first one came through. */
export type LedgerHealth = 'balanced' | 'checking' | 'unbalanced'

/** Whether the log begins with what the chain holds of it; `unchecked` until it was asked. */
export type LogHealth = 'ok' | 'unchecked' | 'diverged'

/** Whether the database has every head that this node knows; `unchecked` until it was compared. */
export type HeadsHealth = 'ok' | 'unchecked' | 'diverged'

/** What keeps heads of the log from the chain, besides a chain that does not answer. */
export type AnchorTrouble = 'no_registry' | 'no_funds' | 'not_owner' | 'refused'

/**
 * Why a deposit that one server has deep enough is not credited, by what the second one says.
 * `second_behind`: its chain is not that far yet. `second_differs`: it is, and holds no such
 * transfer in that block. `second_down`: it does not answer.
 */
export type Doubt = 'second_behind' | 'second_differs' | 'second_down'

/** How this process is, as its jobs found it. Doors read it, jobs write it. */
export type Health = {
  startedAt: number
  ledger: LedgerHealth
  /** Differences between money and its journal at the last check. */
  ledgerFaults: number
  log: LogHealth
  /** How the clock was when the log last said so. */
  clock: Skew
  heads: HeadsHealth
  /** The newest block that was seen, and why none newer is. */
  chain: { head: number | null; headAt: Millis | null; trouble: ChainTrouble | null }
  /** Of who pays for anchors: wei at the last look, and whether that lasts for a few only. */
  anchors: { trouble: AnchorTrouble | null; balanceWei: bigint | null; isLow: boolean }
  /** What keeps deposits from being credited, whether that was asked yet, the last block read. */
  deposits: {
    trouble: ChainTrouble | TokenTrouble | null
    isChecked: boolean
    cursor: number | null
    /** Why a second server holds deposits back, one for each of them. */
    doubts: readonly Doubt[]
  }
  /** Monotonic time at which a notice of this node to itself last came back; null before. */
  echoedAt: number | null
  /** Set when the process has begun to stop: nothing new is taken. */
  stopping: boolean
}
