/** Checks the place of a leaf in the log: its path, and the signed head above it. */
import { fromHex, type Hex } from '../kernel/hex.ts'
import { checkSigner, fail, type Outcome, type TrustedSigner, told } from './checks.ts'
import { type LeafKind, leafHash, verifyInclusion } from './merkle.ts'
import { type Checkpoint, parseCheckpoint } from './proof.ts'
import { isObject, type Problem, readMember, refuseOthers, say } from './receipt.ts'
import { digestOfKnown } from './receipt-structs.ts'
import { recoverSigner } from './signature.ts'

/** The place of a leaf in the log, as files have it in their member `log`. */
export type LogPlace = { index: string; path: Hex[]; checkpoint: Checkpoint }

const members = new Set(['index', 'path', 'checkpoint'])

/** Enough for a log of 2^64 leaves. */
const mostHashes = 64

/** Reads the member `log` of a file; what is wrong is noted. */
export function readLogPlace(value: unknown, problems: Problem[]): undefined {
  if (!isObject(value)) return say(problems, 'log', 'not an object')
  refuseOthers(value, members, 'log', problems)
  readMember('uint64', value['index'], 'log.index', problems)
  parseCheckpoint(value['checkpoint'], 'log.checkpoint', problems)
  const { path } = value
  if (!Array.isArray(path)) return say(problems, 'log.path', 'not a list')
  if (path.length > mostHashes) return say(problems, 'log.path', `more than ${mostHashes} hashes`)
  for (const [i, hash] of path.entries()) {
    readMember('bytes32', hash, `log.path[${i}]`, problems)
  }
}

/** Whether the path leads from a leaf of this kind and digest to the root of the checkpoint. */
export const leadsToRoot = (
  { index, path, checkpoint }: LogPlace,
  kind: LeafKind,
  digest: Uint8Array,
): boolean =>
  verifyInclusion({
    index: BigInt(index),
    size: BigInt(checkpoint.size),
    leaf: leafHash(kind, digest),
    path: path.map(fromHex),
    root: fromHex(checkpoint.root),
  })

/** A checkpoint is signed by the key that is valid at the last index it covers. */
export function checkCheckpoint(
  { signature, ...signed }: Checkpoint,
  issuer: string,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  if (signed.issuer !== issuer) {
    return fail(`Expected a checkpoint of ${told(issuer)}; found one of ${told(signed.issuer)}.`)
  }
  const recovered = recoverSigner(digestOfKnown('Checkpoint', signed), signature)
  if (!recovered.ok) return fail(recovered.reason)
  return checkSigner(recovered, signers, BigInt(signed.size) - 1n)
}
