import type { Deps } from '../../app/deps-port.ts'
import type { Chain, TxReceipt } from '../../kernel/chain.ts'
import { toHex } from '../../kernel/hex.ts'
import type { Lease } from '../../storage/db/lease.ts'
import type { AnchorRow, ChainTxRow } from '../../storage/db/schema.ts'
import { readRoot } from './registry.ts'

type Needs = Pick<Deps, 'anchors' | 'anchoring' | 'logs' | 'clock' | 'log'>

/** Whom the worker writes for: the chain it asks, its lease, and the sender's next nonce. */
export type Turn = { chain: Chain; lease: Lease; nonce: number }

/**
 * Brings every anchor whose end is open to the state that the chain says. Whether one was put back
 * is told: what to do about it is for the next look.
 */
export async function followAnchors(deps: Needs, turn: Turn): Promise<{ putBack: boolean }> {
  let putBack = false
  for (const row of await deps.anchors.open()) {
    const txs = await deps.anchors.txsFor('anchor', row.id)
    const receipt = await findReceipt(turn.chain, txs)
    if (receipt) await settle(deps, turn, row, receipt)
    else putBack = (await missing(deps, turn, row, txs)) || putBack
  }
  return { putBack }
}

/** One of its transactions is in a block; of one nonce only one ever is. */
async function findReceipt(
  chain: Chain,
  txs: readonly ChainTxRow[],
): Promise<TxReceipt | undefined> {
  for (const { hash } of txs) {
    const receipt = await chain.receipt(hash)
    if (receipt) return receipt
  }
  return undefined
}

async function settle(
  deps: Needs,
  { chain, lease }: Turn,
  row: AnchorRow,
  receipt: TxReceipt,
): Promise<void> {
  const { anchors, log, clock } = deps
  if (receipt.status === 'reverted') {
    log.warn('anchor.reverted', { anchor: row.id, size: row.size })
    return anchors.fail(lease, row.id, 'the registry refused it')
  }
  if (row.status === 'confirmed' && row.blockHash === receipt.blockHash) {
    const { number } = await chain.block('finalized')
    if (receipt.blockNumber > number) return
    log.info('anchor.final', { anchor: row.id, size: row.size })
    return anchors.finalize(lease, row.id, clock.now())
  }
  if (!(await isReadBack(deps, chain, row))) return
  const block = await chain.block(receipt.blockNumber)
  // The chain moved on between the two answers: the next look knows more.
  if (block.hash !== receipt.blockHash) return
  const { hash: txHash, blockNumber, blockHash } = receipt
  const mined = { txHash, blockNumber, blockHash, blockTime: block.timestampMs }
  await anchors.confirm(lease, row.id, mined)
  log.info('anchor.confirmed', { anchor: row.id, size: row.size, block: blockNumber })
}

/** Whether the registry holds its root: a receipt alone says only that something was executed. */
async function isReadBack({ anchoring, log }: Needs, chain: Chain, row: AnchorRow) {
  const place = await anchoring.placeOf(row.issuer)
  if (!place) return false
  const { registry, id } = place
  const root = await readRoot(chain, registry, { id, size: BigInt(row.size) })
  if (root === undefined || root === toHex(row.root)) return root !== undefined
  log.error(
    'anchor.another_root',
    new Error(`the registry holds another root at ${row.size} leaves`),
  )
  return false
}

/** None of its transactions is in a block. True when it was put back for that. */
async function missing(
  { anchors, logs, log }: Needs,
  { lease, nonce }: Turn,
  row: AnchorRow,
  txs: readonly ChainTxRow[],
): Promise<boolean> {
  const putBack = async (why: string): Promise<boolean> => {
    log.warn('anchor.put_back', { anchor: row.id, why })
    await anchors.putBack(lease, row.id, why)
    return true
  }
  if (row.status === 'confirmed') return putBack('its block left the chain')
  if (row.status === 'submitted' && row.nonce !== null && nonce > row.nonce) {
    return putBack('its nonce was used by another transaction')
  }
  // Of a log that was abandoned nothing new is sent.
  const isDead = row.status === 'pending' && row.issuer !== logs.current.origin
  if (isDead && txs.every((tx) => tx.nonce < nonce)) await anchors.supersede(lease, row.id)
  return false
}
