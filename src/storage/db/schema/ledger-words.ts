/** The words of the journal: its sides, and why money moved. */

/**
 * The sides of the ledger: where money comes from and goes to. `deposits` is the treasury on the
 * chain, `loss` what the operator bears of deposits that a reorg took away, `plans` what
 * subscriptions cost, `terminal`
 * what the operator lets visitors of the terminal spend, `refunds` what was given back of the cost
 * of runs, `vouchers` what redeemed vouchers were worth, `shards` what went to another shard with
 * its slot, and came from one.
 */
export type LedgerSide =
  | 'user'
  | 'revenue'
  | 'grants'
  | 'deposits'
  | 'loss'
  | 'plans'
  | 'terminal'
  | 'refunds'
  | 'vouchers'
  | 'shards'

/** Why money moved. */
export type TransferKind =
  | 'run'
  | 'grant'
  | 'deposit'
  | 'reversal'
  | 'loss'
  | 'claim'
  | 'plan'
  | 'refund'
  | 'voucher'
  | 'move'
