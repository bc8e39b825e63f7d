/** The health of this process, which jobs write and doors read; types alone. */
import type { TokenTrouble } from '../../billing/deposits/token.ts'
import type { ChainTrouble } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Skew } from '../../kernel/skew.ts'
import type { SchemaHealth } from '../../storage/db/schema/schema-needs.ts'

/** The result of the last ledger audit; `checking` until the first one completes. */
export type LedgerHealth = 'balanced' | 'checking' | 'unbalanced'

/** Whether the log matches its anchors on the chain; `unchecked` until read. */
export type LogHealth = 'ok' | 'unchecked' | 'diverged'

/** Whether the database has every head that this node knows; `unchecked` until compared. */
export type HeadsHealth = 'ok' | 'unchecked' | 'diverged'

/** Why heads are not anchored, other than an unreachable chain. */
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
  /** Differences between balances and the journal at the last audit. */
  ledgerFaults: number
  log: LogHealth
  /** The first leaf of a log that is damaged in the database; null while none is known. */
  logDamage: { origin: string; leaf: number } | null
  /** The clock's state as last logged. */
  clock: Skew
  heads: HeadsHealth
  /** How the database's schema compares with this build's, as last logged. */
  schema: SchemaHealth
  /** The digest of the configuration of each live node, as last read. */
  configs: ReadonlyMap<string, string>
  /** Whether the database's server has connections for all that this process would open. */
  connections: 'enough' | 'few'
  /** Moves of slots that are not finished, and that no command goes on with. */
  stalledMoves: readonly string[]
  /** The newest block seen, and why there is no newer one. */
  chain: { head: number | null; headAt: Millis | null; trouble: ChainTrouble | null }
  /** The anchor sender's balance in wei when last read; `isLow` if it covers only a few anchors. */
  anchors: { trouble: AnchorTrouble | null; balanceWei: bigint | null; isLow: boolean }
  /** Why deposits are not credited; `cursor` is the last block read. */
  deposits: {
    trouble: ChainTrouble | TokenTrouble | null
    isChecked: boolean
    cursor: number | null
    /** Why the second RPC server holds deposits back, one entry per deposit. */
    doubts: readonly Doubt[]
    /** The symbol of the token, such as USDG; null until it was read, or if it is unfit. */
    symbol: string | null
  }
  /** Monotonic time at which this node last received its own notice; null before. */
  echoedAt: number | null
  /** Set once the process begins to stop and takes no new work. */
  stopping: boolean
}
