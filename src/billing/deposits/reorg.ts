import type { Deps } from '../../app/deps-port.ts'
import type { Chain } from '../../kernel/chain.ts'
import { reverseDeposit } from '../../ledger/credit-deposit.ts'
import type { Lease } from '../../storage/db/lease.ts'
import type { DepositRow } from '../../storage/db/schema.ts'
import type { DepositPolicy } from './deposit.ts'
import { isAt, isLost, matchTransfers, toRow, transferOf } from './found.ts'
import { readTransfers, type Transfer } from './transfer.ts'

type Needs = Pick<Deps, 'deposits' | 'ledger' | 'ids' | 'clock' | 'log'>

/** Whom it writes for, and the chain it asks. */
export type On = { chain: Chain; lease: Lease; policy: DepositPolicy }

/** The transfers of a transaction, and the block of the chain that they are in. */
export type Standing = { blockHash: string; blockTime: number; transfers: Transfer[] }

/**
 * Where a transaction stands now; undefined while it is in no block, failed, or its block is not
 * the one that the chain has at that height.
 * @throws ChainUnavailable
 */
export async function standingOf(
  { chain, policy }: Pick<On, 'chain' | 'policy'>,
  txHash: string,
): Promise<Standing | undefined> {
  const receipt = await chain.receipt(txHash)
  if (receipt?.status !== 'success') return undefined
  const block = await chain.block(receipt.blockNumber)
  if (block.hash !== receipt.blockHash) return undefined
  const own = receipt.logs.filter((log) => log.transactionHash === txHash)
  const transfers = readTransfers(own, policy).filter((one) => one.blockHash === block.hash)
  return { blockHash: block.hash, blockTime: block.timestampMs, transfers }
}

/** Whether a transaction still makes exactly this transfer in exactly this block. */
export function standsAsBefore(row: DepositRow, { transfers }: Standing): boolean {
  const found = transferOf(row, transfers)
  return found !== undefined && isAt(row, found)
}

/**
 * Brings the deposits of one transaction to where the chain has them: moved to another block, gone
 * from it, or back. What is gone is only believed when another block stands in its block's place,
 * and never of a finalized deposit, which stays as it is.
 * @throws ChainUnavailable
 */
export async function settleTx(deps: Needs, on: On, txHash: string): Promise<void> {
  const { deposits, log } = deps
  const rows = await deposits.ofTxs([txHash])
  const standing = await standingOf(on, txHash)
  if (!standing) {
    for (const row of rows) if (await isReplaced(on.chain, row)) await takeAway(deps, on, row)
    return
  }
  const { moved, gone, fresh } = matchTransfers(rows, standing.transfers)
  for (const row of gone) {
    if (row.blockHash === standing.blockHash && row.status === 'credited') {
      const what = `the chain no longer has the deposit ${row.id} in the block it was credited from`
      log.error('deposit.contradicted', new Error(what))
    } else await takeAway(deps, on, row)
  }
  const movable = moved.filter(({ row }) => row.status !== 'finalized')
  for (const { row } of moved) if (row.status === 'finalized') tellDenied(log, row)
  const places = movable.map(({ row, transfer }) => {
    const { logIndex, blockNumber, blockHash } = transfer
    const status = isLost(row) || row.status === 'confirming' ? ('detected' as const) : row.status
    return { row, place: { logIndex, blockNumber, blockHash, status } }
  })
  const found = fresh.map((transfer) => toRow(deps, transfer, on.policy))
  await deposits.replace(on.lease, places, found)
  for (const { row } of movable) log.info('deposit.moved', { deposit: row.id, tx: row.txHash })
}

/** Whether another block of the chain is where the block of a deposit was. */
async function isReplaced(chain: Chain, row: DepositRow): Promise<boolean> {
  return (await chain.block(row.blockNumber)).hash !== row.blockHash
}

async function takeAway(deps: Needs, { lease }: On, row: DepositRow): Promise<void> {
  const { deposits, ledger, log } = deps
  if (row.status === 'detected' || row.status === 'confirming') {
    await deposits.orphan(lease, row)
    log.info('deposit.orphaned', { deposit: row.id, tx: row.txHash })
  } else if (row.status === 'credited') {
    const loss = await ledger.post({
      account: row.account,
      keys: [],
      deposit: row.id,
      decide: (unit) => reverseDeposit(unit, row.id, row.blockHash),
    })
    if (loss === undefined) return
    const what = `the deposit ${row.id} left the chain after its credit; ${loss} nUSD are lost`
    log.error('deposit.reversed', new Error(what))
  } else if (row.status === 'finalized') tellDenied(log, row)
}

function tellDenied(log: Needs['log'], { id }: DepositRow): void {
  const what = `an RPC server denies the deposit ${id}, which is final; the deposit is kept`
  log.error('deposit.final_denied', new Error(what))
}
