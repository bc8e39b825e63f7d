/** The store of deposits. Their money moves in the ledger alone. */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'

/** How far a scan came: the last block, and the progress or end of a running rescan. */
export type ScanProgress = {
  cursor: number
  rescan: { was: number; next: number | undefined } | undefined
}

/** The part of a deposit that a reorg can change. */
export type Place = Pick<DepositRow, 'logIndex' | 'blockNumber' | 'blockHash' | 'status'>

export type Deposits = DepositProgress & DepositReads & DepositTotals & DepositChanges

/** How far the watcher came. Writes fail if the lease is lost. */
export type DepositProgress = {
  takeLease(): Promise<Lease | undefined>
  /** The hash of a token's code as first seen; stores `hash` if there is none. */
  ensureCode(token: string, hash: string): Promise<string>
  /** The last block that was read; undefined before the first. */
  cursor(): Promise<number | undefined>
  rescanFrom(): Promise<number | undefined>
  /** Asks the watcher to read again from a block; of two requests the earlier block wins. */
  wantRescan(from: number): Promise<void>
  /** Stores new deposits and the progress in one transaction. */
  record(lease: Lease, found: DepositRow[], reached?: ScanProgress): Promise<void>
}

export type DepositReads = {
  find(id: string): Promise<DepositRow | undefined>
  /** All deposits of these transactions. */
  ofTxs(hashes: readonly string[]): Promise<DepositRow[]>
  /** Deposits in these blocks that a reorg can still change. */
  openIn(range: { from: number; to: number }): Promise<DepositRow[]>
  /** Deposits not credited yet, and credited ones up to block `finalized`, in block order. */
  due(finalized: number, limit: number, after?: DepositRow): Promise<DepositRow[]>
  /** The credits of an account for blocks of one UTC day. */
  creditedOn(account: string, day: Millis): Promise<Nusd>
  /** Newest first; `after` is the id of one of them. */
  list(account: string, page: PageRequest): Promise<Page<DepositRow>>
}

export type DepositTotals = {
  /** Count and sum of each status, over all accounts. */
  totals(): Promise<{ status: DepositRow['status']; count: number; total: string }[]>
  /** The newest deposits of all accounts. */
  newest(limit: number): Promise<DepositRow[]>
}

/** Changes without money. A row that changed since it was read is left alone. */
export type DepositChanges = {
  /** Marks a deposit as waiting for a safe or final block. */
  confirm(lease: Lease, row: DepositRow): Promise<void>
  /** Marks a deposit as waiting for the second server. */
  holdBack(lease: Lease, row: DepositRow, reason: DepositRow['reason']): Promise<void>
  finalize(lease: Lease, credited: DepositRow[]): Promise<void>
  /** Marks an uncredited deposit whose transfer left the chain. */
  orphan(lease: Lease, row: DepositRow): Promise<void>
  /** Moves the deposits of one transaction after a reorg, and stores its new transfers. */
  replace(
    lease: Lease,
    moved: { row: DepositRow; place: Place }[],
    found: DepositRow[],
  ): Promise<void>
}
