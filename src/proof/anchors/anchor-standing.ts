import type { Deps } from '../../app/deps-port.ts'
import { chainId } from '../../kernel/chain.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { AnchorRow } from '../../storage/db/schema.ts'
import type { ProofAnchor } from '../../verify/proof.ts'
import type { Anchoring } from './anchoring.ts'

type Needs = Pick<Deps, 'anchors' | 'checkpoints' | 'clock' | 'logs'>

/** How a size of a log stands on the chain, for a proof under it. */
export async function standingOf(
  deps: Needs,
  anchoring: Pick<Anchoring, 'isOn' | 'placeOf' | 'policy'>,
  { origin, size }: { origin: string; size: number },
): Promise<ProofAnchor> {
  const at = await anchoring.placeOf(origin)
  if (!at) return { status: 'disabled' }
  const place = { chain_id: chainId, registry: at.registry, log_owner: at.owner }
  const row = await deps.anchors.at(origin, size)
  const mined = row && minedView(row)
  if (mined) return { ...place, size: String(size), ...mined }
  if (!(await anchoring.isOn())) return { status: 'disabled' }
  const newest = await deps.anchors.newest(origin)
  // A larger head is there, or none will come any more: this very size does not get there.
  const isOver = origin !== deps.logs.current.origin || (newest?.size ?? 0) >= size
  if (isOver) return { status: 'superseded', ...place, expected_by: null }
  const status = row?.status === 'submitted' ? 'submitted' : 'pending'
  const oldest = await deps.checkpoints.firstOver(origin, newest?.size ?? 0)
  const by = oldest && oldest.timestamp + anchoring.policy.maxDelayMs
  const isPast = by === undefined || by < deps.clock.now()
  return { status, ...place, expected_by: isPast ? null : toRfc3339(by) }
}

/** Where an anchor is on the chain; undefined while it is not. */
function minedView({ status, txHash, blockNumber, blockHash, blockTime }: AnchorRow) {
  if (status !== 'confirmed' && status !== 'final') return undefined
  if (txHash === null || blockNumber === null || blockHash === null || blockTime === null) {
    throw new Error('an anchor is on the chain, but nobody knows where')
  }
  return {
    status,
    tx_hash: txHash,
    block_number: String(blockNumber),
    block_hash: blockHash,
    block_time: toRfc3339(blockTime),
  }
}
