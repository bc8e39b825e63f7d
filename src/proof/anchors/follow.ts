/** Updates open anchors to their state on the chain. */
import type { Deps } from '../../app/deps-port.ts'
import type { Chain, TxReceipt } from '../../kernel/chain.ts'
import { toHex } from '../../kernel/hex.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { AnchorRow, ChainTxRow } from '../../storage/db/schema/schema.ts'
import { readRoot } from './registry.ts'

type FollowDeps = Pick<Deps, 'anchors' | 'anchoring' | 'logs' | 'clock' | 'log'>

/** The chain, the worker's lease, and the sender's next nonce. */
export type Turn = { chain: Chain; lease: Lease; nonce: number }

/** Returns whether an anchor was put back; the next pass sends it again. */
export async function followAnchors(deps: FollowDeps, turn: Turn): Promise<{ putBack: boolean }> {
  let putBack = false
  for (const row of await deps.anchors.open()) {
    const txs = await deps.anchors.txsFor('anchor', row.id)
    const receipt = await findReceipt(turn.chain, txs)
    if (receipt) await applyReceipt(deps, turn, row, receipt)
    else putBack = (await missing(deps, turn, row, txs)) || putBack
  }
  return { putBack }
}

/** The receipt of the mined transaction; at most one per nonce is ever mined. */
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

async function applyReceipt(
  deps: FollowDeps,
  { chain, lease }: Turn,
  row: AnchorRow,
  receipt: TxReceipt,
): Promise<void> {
  const { anchors, log, clock } = deps
  if (receipt.status === 'reverted') {
    log.warn('anchor.reverted', { anchor: row.id, size: row.size })
    return anchors.fail(lease, row.id, 'the registry reverted it')
  }
  if (row.status === 'confirmed' && row.blockHash === receipt.blockHash) {
    const { number } = await chain.block('finalized')
    if (receipt.blockNumber > number) return
    log.info('anchor.final', { anchor: row.id, size: row.size })
    return anchors.finalize(lease, row.id, clock.now())
  }
  if (!(await isReadBack(deps, chain, row))) return
  const block = await chain.block(receipt.blockNumber)
  // The chain moved between the two answers: the next pass decides.
  if (block.hash !== receipt.blockHash) return
  const { hash: txHash, blockNumber, blockHash } = receipt
  const mined = { txHash, blockNumber, blockHash, blockTime: block.timestampMs }
  await anchors.confirm(lease, row.id, mined)
  log.info('anchor.confirmed', { anchor: row.id, size: row.size, block: blockNumber })
}

/** Whether the registry holds its root; a receipt alone only proves an execution. */
async function isReadBack({ anchoring, log }: FollowDeps, chain: Chain, row: AnchorRow) {
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

/** Handles an anchor without a mined transaction. Returns true if it was put back. */
async function missing(
  { anchors, logs, log }: FollowDeps,
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
  // Nothing new is sent for an abandoned log.
  const isDead = row.status === 'pending' && row.issuer !== logs.current.origin
  if (isDead && txs.every((tx) => tx.nonce < nonce)) await anchors.supersede(lease, row.id)
  return false
}
