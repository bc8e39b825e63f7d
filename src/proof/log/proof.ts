/** Proves that a receipt is in its log, and that one log begins with another. */
import type { Deps } from '../../app/deps-port.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { CheckpointRow } from '../../storage/db/schema/schema.ts'
import { verifyConsistency, verifyInclusion } from '../../verify/merkle.ts'
import { type Consistency, logIdOf, type Proof } from '../../verify/proof.ts'
import { checkpointOver, type SigningDeps, toCheckpointView } from './checkpoint.ts'
import { type DamageDeps, readSound, throwDamage } from './damage.ts'
import { type LogSpan, logOf } from './logs.ts'
import {
  consistencyRanges,
  hashOf,
  inclusionRanges,
  LeafDamage,
  peaksOf,
  type Range,
} from './tree.ts'

export type ProofDeps = SigningDeps & Pick<Deps, 'anchoring' | 'health'>

/**
 * Proves that a receipt is leaf `index` of its issuer's log: under the checkpoint of `size` if
 * given, else under the smallest anchored one that covers it, else under the latest.
 * @throws Refusal `invalid_request` for a size that was never signed or does not cover the leaf,
 * `log_diverged`, `log_damaged`
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
  const { leaf, path } = await inclusionOf(deps, log, index, checkpoint)
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

/** The path from a leaf to the root of a signed head over it, as hex. @throws as `proofOf` */
export const pathTo = async (
  deps: DamageDeps,
  log: LogSpan,
  index: number,
  head: SignedHead,
): Promise<Hex[]> => (await inclusionOf(deps, log, index, head)).path.map(toHex)

type SignedHead = Pick<CheckpointRow, 'size' | 'root'>

/** The hash of a leaf and its path, which lead to the signed root. @throws Refusal `log_damaged` */
const inclusionOf = (deps: DamageDeps, log: LogSpan, index: number, { size, root }: SignedHead) =>
  readSound(deps, log, async () => {
    const ranges = [{ from: index, to: index + 1 }, ...inclusionRanges(index, size)]
    const [leaf, ...path] = await hashesOf(deps, log, ranges)
    if (!leaf) throw new LeafDamage(index, 'it is missing')
    const claim = { index: BigInt(index), size: BigInt(size), leaf, path, root }
    if (!verifyInclusion(claim)) {
      await throwDamage(deps, log, { leaf: index, places: ranges.flatMap(peaksOf) })
    }
    return { leaf, path }
  })

/**
 * Proves that the log at `to` leaves begins with itself at `from`; 1 ≤ from ≤ to ≤ size.
 * @throws Refusal `log_damaged`
 */
export const consistencyOf = (
  deps: DamageDeps & Pick<Deps, 'logs' | 'checkpoints'>,
  from: number,
  to: number,
  log: LogSpan = deps.logs.current,
): Promise<Consistency> =>
  readSound(deps, log, async () => {
    const toRoot = await soundRoot(deps, log, to)
    const path = await consistencyPath(deps, log, from, { size: to, root: toRoot })
    return { from: String(from), to: String(to), path: path.map(toHex) }
  })

/**
 * The root at a size: one that was signed, else one that the next signed head proves. Leaves that
 * no head covers yet are taken as they are stored.
 */
async function soundRoot(
  deps: DamageDeps & Pick<Deps, 'checkpoints'>,
  log: LogSpan,
  size: number,
): Promise<Uint8Array> {
  const head = await deps.checkpoints.firstOver(log.origin, size - 1)
  if (head?.size === size) return head.root
  const [root] = await hashesOf(deps, log, [{ from: 0, to: size }])
  if (!root) throw new LeafDamage(size - 1, 'it is missing')
  if (head) await consistencyPath(deps, log, size, head)
  return root
}

/** The path between the stored root at `from` and a root that is known. @throws LeafDamage */
async function consistencyPath(
  deps: DamageDeps,
  log: LogSpan,
  from: number,
  to: SignedHead,
): Promise<Uint8Array[]> {
  const ranges = [{ from: 0, to: from }, ...consistencyRanges(from, to.size)]
  const [fromRoot, ...path] = await hashesOf(deps, log, ranges)
  if (!fromRoot) throw new LeafDamage(from - 1, 'it is missing')
  const sizes = { from: BigInt(from), to: BigInt(to.size) }
  if (!verifyConsistency({ ...sizes, fromRoot, toRoot: to.root, path })) {
    await throwDamage(deps, log, { leaf: from - 1, places: ranges.flatMap(peaksOf) })
  }
  return path
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
