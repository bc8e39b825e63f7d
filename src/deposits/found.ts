import { chainId } from '../chain/chain.ts'
import type { DepositRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { type DepositPolicy, judgeAmount, toNusd } from './deposit.ts'
import type { Transfer } from './transfer.ts'

/** What the transfers of a block mean to the deposits that are known. */

/** Which transfers were never seen, and the transactions that are known from another block. */
export function compare(
  transfers: readonly Transfer[],
  known: readonly DepositRow[],
): { fresh: Transfer[]; moved: string[] } {
  const byTx = Map.groupBy(known, ({ txHash }) => txHash)
  const fresh: Transfer[] = []
  const moved = new Set<string>()
  for (const transfer of transfers) {
    const siblings = byTx.get(transfer.txHash) ?? []
    const same = siblings.find(({ logIndex }) => logIndex === transfer.logIndex)
    const isElsewhere = siblings.some(({ blockHash }) => blockHash !== transfer.blockHash)
    // One that left its transaction has no place in it, so that any of these may be it again.
    const isBack = same ? isLost(same) : siblings.some(isLost)
    if (isElsewhere || isBack) moved.add(transfer.txHash)
    else if (!same) fresh.push(transfer)
  }
  return { fresh, moved: [...moved] }
}

/** A transfer that was never seen as a deposit of its sender. */
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
    loss: 0n,
    moved: null,
  }
}

/** How the deposits of one transaction stand to the transfers that a block holds of it now. */
export type Match = {
  /** Where they are now. */
  moved: { row: DepositRow; transfer: Transfer }[]
  /** Those that are where they were. */
  same: DepositRow[]
  /** Those that the transaction no longer makes. */
  gone: DepositRow[]
  fresh: Transfer[]
}

/**
 * Finds each deposit of a transaction among its transfers as they are now. In another block its log
 * index is another one, because it counts from the block's start: then sender and amount tell.
 */
export function matchTransfers(rows: readonly DepositRow[], transfers: readonly Transfer[]): Match {
  const left = [...transfers]
  const match: Match = { moved: [], same: [], gone: [], fresh: left }
  const take = (row: DepositRow, is: (transfer: Transfer) => boolean): Transfer | undefined => {
    const at = left.findIndex((one) => is(one) && isLike(row, one))
    return at === -1 ? undefined : left.splice(at, 1)[0]
  }
  const others: DepositRow[] = []
  for (const row of rows) {
    const transfer = take(row, ({ logIndex }) => logIndex === row.logIndex)
    if (!transfer) others.push(row)
    else if (transfer.blockHash === row.blockHash && !isLost(row)) match.same.push(row)
    else match.moved.push({ row, transfer })
  }
  for (const row of others) {
    const transfer = take(row, () => true)
    if (transfer) match.moved.push({ row, transfer })
    else match.gone.push(row)
  }
  return match
}

const isLike = (row: DepositRow, { token, from, units }: Transfer): boolean =>
  row.token === token && row.from === from && row.tokenAmount === units.toString()

/** Whether a reorg took it away before. */
export const isLost = ({ status }: Pick<DepositRow, 'status'>): boolean =>
  status === 'orphaned' || status === 'reversed'
