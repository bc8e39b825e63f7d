/** Proves that a receipt is in its log, and that one log begins with another. */
import type { Deps } from '../../app/deps-port.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { CheckpointRow } from '../../storage/db/schema.ts'
import { type Consistency, logIdOf, type Proof } from '../../verify/proof.ts'
import { checkpointOver, type SigningDeps, toCheckpointView } from './checkpoint.ts'
import { type LogSpan, logOf } from './logs.ts'
import { consistencyRanges, hashOf, inclusionRanges, peaksOf, type Range } from './tree.ts'

export type ProofDeps = SigningDeps & Pick<Deps, 'anchoring'>

/**
 * Proves that a receipt is leaf `index` of its issuer's log: under the checkpoint of `size` if
 * given, else under the smallest anchored one that covers it, else under the latest.
 * @throws Refusal `invalid_request` for a size that was never signed or does not cover the leaf,
 * `log_diverged`
 */
export async function proofOf(
  deps: ProofDeps,
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
    anchor: await deps.anchoring.anchorFor({ origin: checkpoint.issuer, size: checkpoint.size }),
  }
}

/** The path from a leaf to the root at a size, as hex; 0 ≤ index < size. */
export const pathTo = async (
  deps: Pick<Deps, 'logStore'>,
  log: LogSpan,
  index: number,
  size: number,
): Promise<Hex[]> => (await hashesOf(deps, log, inclusionRanges(index, size))).map(toHex)

/** Proves that the log at `to` leaves begins with itself at `from`; 1 ≤ from ≤ to ≤ size. */
export async function consistencyOf(
  deps: Pick<Deps, 'logStore' | 'logs'>,
  from: number,
  to: number,
  log: LogSpan = deps.logs.current,
): Promise<Consistency> {
  const path = await hashesOf(deps, log, consistencyRanges(from, to))
  return { from: String(from), to: String(to), path: path.map(toHex) }
}

/** The first anchored checkpoint over a leaf; undefined until there is one. */
async function anchoredOver(
  { anchoring, checkpoints }: ProofDeps,
  { origin }: LogSpan,
  index: number,
): Promise<CheckpointRow | undefined> {
  const size = await anchoring.sizeOver(origin, index)
  return size === undefined ? undefined : checkpoints.find(origin, size)
}

async function signedAt(
  deps: ProofDeps,
  log: LogSpan,
  size: number,
  index: number,
): Promise<CheckpointRow> {
  const found = size > index ? await deps.checkpoints.find(log.origin, size) : undefined
  if (found) return found
  const message =
    size > index
      ? 'No checkpoint was signed at this size. Omit it to use the latest.'
      : `The receipt has index ${index}, so a log of this size does not contain it.`
  refuse('invalid_request', { message, param: 'size' })
}

async function hashesOf(
  { logStore }: Pick<Deps, 'logStore'>,
  log: LogSpan,
  ranges: readonly Range[],
): Promise<Uint8Array[]> {
  const hashAt = await logStore.hashes(log, ranges.flatMap(peaksOf))
  return ranges.map((range) => hashOf(range, hashAt))
}
