import type { CheckpointRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'
import { toHex } from '../verify/hex.ts'
import { type Consistency, logIdOf, type Proof } from '../verify/proof.ts'
import { checkpointOver, toCheckpointView } from './checkpoint.ts'
import { consistencyRanges, hashOf, inclusionRanges, peaksOf, type Range } from './tree.ts'

type Needs = Pick<Deps, 'logStore' | 'checkpoints' | 'signer' | 'clock' | 'settings' | 'log'>

/**
 * That a receipt is leaf `index` of the log: under the checkpoint of `size`, or else the latest.
 * @throws Refusal `invalid_request` for a size that was never signed or does not cover the leaf,
 * `log_diverged`
 */
export async function proofOf(
  deps: Needs,
  receiptId: string,
  index: number,
  size?: number,
): Promise<Proof> {
  const checkpoint =
    size === undefined ? await checkpointOver(deps, index) : await signedAt(deps, size, index)
  const self = { from: index, to: index + 1 }
  const ranges = [self, ...inclusionRanges(index, checkpoint.size)]
  const [leaf, ...path] = await hashesOf(deps, ranges)
  if (!leaf) throw new Error(`the log lacks its leaf ${index}`)
  return {
    type: 'counterfoil.proof',
    version: '1',
    receipt_id: receiptId,
    log_id: logIdOf(checkpoint.issuer),
    index: String(index),
    leaf: toHex(leaf),
    size: String(checkpoint.size),
    path: path.map(toHex),
    checkpoint: toCheckpointView(checkpoint),
    anchor: { status: 'disabled' },
  }
}

/** That the log of `to` leaves begins with that of `from`; 1 ≤ from ≤ to ≤ the log's size. */
export async function consistencyOf(deps: Needs, from: number, to: number): Promise<Consistency> {
  const path = await hashesOf(deps, consistencyRanges(from, to))
  return { from: String(from), to: String(to), path: path.map(toHex) }
}

async function signedAt(deps: Needs, size: number, index: number): Promise<CheckpointRow> {
  const found = size > index ? await deps.checkpoints.find(size) : undefined
  if (found) return found
  const message =
    size > index
      ? 'No checkpoint was signed at this size. Leave it out to get the latest.'
      : `The receipt is number ${index} of the log, counted from 0; a log of this size lacks it.`
  refuse('invalid_request', { message, param: 'size' })
}

async function hashesOf({ logStore }: Needs, ranges: readonly Range[]): Promise<Uint8Array[]> {
  const hashAt = await logStore.hashes(ranges.flatMap(peaksOf))
  return ranges.map((range) => hashOf(range, hashAt))
}
