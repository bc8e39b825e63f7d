import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { CheckpointRow } from '../../storage/db/schema.ts'
import { type Consistency, logIdOf, type Proof } from '../../verify/proof.ts'
import { checkpointOver, toCheckpointView } from './checkpoint.ts'
import { type LogSpan, logOf } from './logs.ts'
import { consistencyRanges, hashOf, inclusionRanges, peaksOf, type Range } from './tree.ts'

type Needs = Pick<
  Deps,
  'logStore' | 'checkpoints' | 'signer' | 'clock' | 'logs' | 'log' | 'heads' | 'anchoring'
>

/**
 * That a receipt is leaf `index` of its issuer's log: under the checkpoint of `size`, or else of
 * the smallest size on the chain that covers it, or else under the latest.
 * @throws Refusal `invalid_request` for a size that was never signed or does not cover the leaf,
 * `log_diverged`
 */
export async function proofOf(
  deps: Needs,
  receipt: { id: string; issuer: string; index: number },
  size?: number,
): Promise<Proof> {
  const { id, issuer, index } = receipt
  const log = logOf(deps.logs, issuer)
  const checkpoint =
    size === undefined
      ? ((await anchoredOver(deps, log, index)) ?? (await checkpointOver(deps, log, index)))
      : await signedAt(deps, log, size, index)
  const self = { from: index, to: index + 1 }
  const ranges = [self, ...inclusionRanges(index, checkpoint.size)]
  const [leaf, ...path] = await hashesOf(deps, log, ranges)
  if (!leaf) throw new Error(`the log lacks its leaf ${index}`)
  return {
    type: 'counterfoil.proof',
    version: '1',
    receipt_id: id,
    log_id: logIdOf(checkpoint.issuer),
    index: String(index),
    leaf: toHex(leaf),
    size: String(checkpoint.size),
    path: path.map(toHex),
    checkpoint: toCheckpointView(checkpoint),
    anchor: await deps.anchoring.standingOf({ origin: checkpoint.issuer, size: checkpoint.size }),
  }
}

/** That a log of `to` leaves begins with that of `from`; 1 ≤ from ≤ to ≤ the log's size. */
export async function consistencyOf(
  deps: Needs,
  from: number,
  to: number,
  log: LogSpan = deps.logs.current,
): Promise<Consistency> {
  const path = await hashesOf(deps, log, consistencyRanges(from, to))
  return { from: String(from), to: String(to), path: path.map(toHex) }
}

/** The first checkpoint over a leaf that is on the chain; undefined while there is none. */
async function anchoredOver(
  { anchoring, checkpoints }: Needs,
  { origin }: LogSpan,
  index: number,
): Promise<CheckpointRow | undefined> {
  const size = await anchoring.sizeOver(origin, index)
  return size === undefined ? undefined : checkpoints.find(origin, size)
}

async function signedAt(
  deps: Needs,
  log: LogSpan,
  size: number,
  index: number,
): Promise<CheckpointRow> {
  const found = size > index ? await deps.checkpoints.find(log.origin, size) : undefined
  if (found) return found
  const message =
    size > index
      ? 'No checkpoint was signed at this size. Leave it out to get the latest.'
      : `The receipt is number ${index} of the log, counted from 0; a log of this size lacks it.`
  refuse('invalid_request', { message, param: 'size' })
}

async function hashesOf(
  { logStore }: Needs,
  log: LogSpan,
  ranges: readonly Range[],
): Promise<Uint8Array[]> {
  const hashAt = await logStore.hashes(log, ranges.flatMap(peaksOf))
  return ranges.map((range) => hashOf(range, hashAt))
}
