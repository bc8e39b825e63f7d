/** Matches the transfers of blocks with the known deposits. */
import type { Deps } from '../../app/deps-port.ts'
import { chainId } from '../../kernel/chain.ts'
import { depositRef } from '../../ledger/deposit-ref.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import { type DepositPolicy, judgeAmount, toNusd } from './deposit.ts'
import type { Transfer } from './transfer.ts'

/**
 * Sorts the transfers of whole blocks into new ones and transactions that contradict the known
 * deposits and must be looked up.
 */
export function sortTransfers(
  transfers: readonly Transfer[],
  known: readonly DepositRow[],
): { fresh: Transfer[]; doubtful: string[] } {
  const rowsOf = Map.groupBy(known, ({ txHash }) => txHash)
  const fresh: Transfer[] = []
  const doubtful: string[] = []
  for (const [txHash, theirs] of Map.groupBy(transfers, (one) => one.txHash)) {
    const match = matchTransfers(rowsOf.get(txHash) ?? [], theirs)
    const isSplit = theirs.some(({ blockHash }) => blockHash !== theirs[0]?.blockHash)
    if (isSplit || match.moved.length > 0 || match.gone.some(canLeave)) doubtful.push(txHash)
    else fresh.push(...match.fresh)
  }
  return { fresh, doubtful }
}

/** A new transfer as a deposit of its sender; the store knows whether this shard credits it. */
export function toRow(
  { ids, clock }: Pick<Deps, 'ids' | 'clock'>,
  { units, ...transfer }: Transfer,
  policy: DepositPolicy,
): DepositRow {
  const amount = toNusd(units, policy.decimals)
  return {
    id: ids.make('dep'),
    chainId,
    ...transfer,
    blockTime: null,
    tokenAmount: units.toString(),
    amount: amount ?? null,
    account: transfer.from,
    ...judgeAmount(amount, policy),
    seenAt: clock.now(),
    creditedAt: null,
    finalizedAt: null,
    credits: 0,
    reversals: 0,
    loss: 0n,
    moved: null,
  }
}

/** The known deposits of one transaction compared with its transfers now. */
export type Match = {
  /** In another place than before, or back. */
  moved: { row: DepositRow; transfer: Transfer }[]
  /** In the same place. */
  same: DepositRow[]
  /** No longer made by the transaction. */
  gone: DepositRow[]
  fresh: Transfer[]
}

/**
 * Matches by identity, not by log index: the index counts from the start of the block, so it
 * changes when the transaction moves to another block.
 */
export function matchTransfers(rows: readonly DepositRow[], transfers: readonly Transfer[]): Match {
  const known = new Map(rows.map((row) => [depositRef(row), row]))
  const match: Match = { moved: [], same: [], gone: [], fresh: [] }
  for (const transfer of transfers) {
    const name = transferRef(transfer)
    const row = known.get(name)
    known.delete(name)
    if (!row) match.fresh.push(transfer)
    else if (isAt(row, transfer) && !isLost(row)) match.same.push(row)
    else match.moved.push({ row, transfer })
  }
  match.gone.push(...known.values())
  return match
}

/** The transfer of a deposit among these. */
export const transferOf = (row: DepositRow, transfers: readonly Transfer[]): Transfer | undefined =>
  transfers.find(
    (one) =>
      one.ordinal === row.ordinal && one.from === row.from && transferRef(one) === depositRef(row),
  )

/** Whether a deposit was last seen in this place. */
export const isAt = (row: DepositRow, { blockHash, logIndex }: Transfer): boolean =>
  row.blockHash === blockHash && row.logIndex === logIndex

const transferRef = ({ units, ...transfer }: Transfer): string =>
  depositRef({ ...transfer, chainId, tokenAmount: units.toString() })

/** Whether a reorg removed it before. */
export const isLost = ({ status }: Pick<DepositRow, 'status'>): boolean =>
  status === 'orphaned' || status === 'reversed'

const canLeave = ({ status }: DepositRow): boolean =>
  status === 'detected' || status === 'confirming' || status === 'credited'
