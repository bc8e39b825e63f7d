/** Follows a transaction through reorgs: moves its deposits, or takes their credit back. */

import type { Deps } from '../../app/deps-port.ts'
import type { Chain } from '../../kernel/chain.ts'
import { isSlotMoving } from '../../kernel/shard.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import { reverseDeposit } from './credit-deposit.ts'
import type { DepositPolicy } from './deposit.ts'
import { depositRows } from './deposit-rows.ts'
import { isAt, isLost, matchTransfers, toRow, transferOf } from './match-transfers.ts'
import { readTransfers, type Transfer } from './transfer.ts'

export type ReorgDeps = Pick<Deps, 'deposits' | 'ledger' | 'ids' | 'clock' | 'log'>

/** The chain to read, the lease to write under, and the policy. */
export type ChainView = { chain: Chain; lease: Lease; policy: DepositPolicy }

/** The block that includes a transaction, and its transfers. */
export type Inclusion = { blockHash: string; blockTime: number; transfers: Transfer[] }

/**
 * The block that includes a transaction; undefined if it is pending, failed, or its block is not
 * the chain's at that height.
 * @throws ChainUnavailable
 */
export async function inclusionOf(
  { chain, policy }: Pick<ChainView, 'chain' | 'policy'>,
  txHash: string,
): Promise<Inclusion | undefined> {
  const receipt = await chain.receipt(txHash)
  if (receipt?.status !== 'success') return undefined
  const block = await chain.block(receipt.blockNumber)
  if (block.hash !== receipt.blockHash) return undefined
  const own = receipt.logs.filter((log) => log.transactionHash === txHash)
  const transfers = readTransfers(own, policy).filter((one) => one.blockHash === block.hash)
  return { blockHash: block.hash, blockTime: block.timestampMs, transfers }
}

/** Whether a deposit is still the same transfer in the same block. */
export function isUnmoved(row: DepositRow, { transfers }: Inclusion): boolean {
  const found = transferOf(row, transfers)
  return found !== undefined && isAt(row, found)
}

/**
 * Updates the deposits of one transaction after a reorg: moved to another block, gone, or back. A
 * deposit counts as gone only if another block has taken the place of its own. Finalized deposits
 * never change.
 * @throws ChainUnavailable
 */
export async function applyReorg(deps: ReorgDeps, on: ChainView, txHash: string): Promise<void> {
  const { deposits, log } = deps
  const rows = await deposits.ofTxs([txHash])
  const inclusion = await inclusionOf(on, txHash)
  if (!inclusion) {
    for (const row of rows)
      if (await isReplaced(on.chain, row)) await reverseOrOrphan(deps, on, row)
    return
  }
  const { moved, gone, fresh } = matchTransfers(rows, inclusion.transfers)
  for (const row of gone) {
    if (row.blockHash === inclusion.blockHash && row.status === 'credited') {
      const what = `the chain no longer has the deposit ${row.id} in the block it was credited from`
      log.error('deposit.contradicted', new Error(what))
    } else await reverseOrOrphan(deps, on, row)
  }
  const movable = moved.filter(({ row }) => row.status !== 'finalized')
  for (const { row } of moved) if (row.status === 'finalized') logDenied(log, row)
  const places = movable.map(({ row, transfer }) => {
    const { logIndex, blockNumber, blockHash } = transfer
    const status = isLost(row) || row.status === 'confirming' ? ('detected' as const) : row.status
    return { row, place: { logIndex, blockNumber, blockHash, status } }
  })
  const found = fresh.map((transfer) => toRow(deps, transfer, on.policy))
  await deposits.replace(on.lease, places, found)
  for (const { row } of movable) log.info('deposit.moved', { deposit: row.id, tx: row.txHash })
}

/** Whether another block has taken the place of a deposit's block. */
async function isReplaced(chain: Chain, row: DepositRow): Promise<boolean> {
  return (await chain.block(row.blockNumber)).hash !== row.blockHash
}

async function reverseOrOrphan(
  deps: ReorgDeps,
  { lease }: ChainView,
  row: DepositRow,
): Promise<void> {
  const { deposits, ledger, log } = deps
  if (row.status === 'detected' || row.status === 'confirming') {
    await deposits.orphan(lease, row)
    log.info('deposit.orphaned', { deposit: row.id, tx: row.txHash })
  } else if (row.status === 'credited') {
    const command = {
      account: row.account,
      keys: [],
      isExempt: true,
      parts: [depositRows.of(row.id)],
      decide: (unit: UnitOfWork) => reverseDeposit(unit, row.id, row.blockHash),
    }
    const loss = await ledger.post(command).catch((error: unknown) => {
      // The next look finds it again, here or where the slot then is.
      if (!isSlotMoving(error)) throw error
      return undefined
    })
    if (loss === undefined) return
    const what = `the deposit ${row.id} left the chain after its credit; ${loss} nUSD are lost`
    log.error('deposit.reversed', new Error(what))
  } else if (row.status === 'finalized') logDenied(log, row)
}

function logDenied(log: Deps['log'], { id }: DepositRow): void {
  const what = `an RPC server denies the deposit ${id}, which is final; the deposit is kept`
  log.error('deposit.final_denied', new Error(what))
}
