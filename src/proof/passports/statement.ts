/** A signed track record, and the checks that verify it offline. */
import { canonical } from '../../kernel/canonical.ts'
import { sha256 } from '../../kernel/hash.ts'
import { fromHex, type Hex, toHex } from '../../kernel/hex.ts'
import { structDigest } from '../../verify/eip712.ts'
import { leafHash, leafKinds, verifyInclusion } from '../../verify/merkle.ts'
import type { Proof } from '../../verify/proof.ts'
import { recoverSigner } from '../../verify/signature.ts'
import type { TrackRecord } from './record.ts'

/**
 * A track record as it was signed, and the leaf of the log that it is. The signed struct is
 * `PassportStatement(string handle,uint64 asOfSize,bytes32 record)`.
 */
export type StatementFile = {
  type: 'counterfoil.passport-statement'
  version: '1'
  /** Origin of the log. */
  issuer: string
  handle: string
  /** Decimal: how many leaves of the log the record counts. */
  as_of_size: string
  record: TrackRecord
  /** SHA-256 over the record's canonical JSON (RFC 8785). */
  record_hash: Hex
  digest: Hex
  signature: Hex
  /** EIP-55. */
  signer: string
  log_index: string
  /** As of a receipt, but of this leaf. */
  proof?: Omit<Proof, 'receipt_id'>
}

/** The 32 bytes that a statement's signature covers; `record` is canonical JSON. */
export const statementDigest = (handle: string, asOfSize: bigint, record: string): Uint8Array =>
  structDigest('PassportStatement', { handle, asOfSize, record: sha256(record) })

/** The signer of each part of the log. */
export type TrustedSigner = { address: string; fromIndex: bigint; untilIndex: bigint | null }

/** The checks of a statement that need its file alone. */
export type StatementCheck = 'record' | 'digest' | 'signature' | 'signer' | 'inclusion'

/**
 * Checks a statement and says which checks it fails: nothing for one that the signer made and the
 * log holds under the root of its proof. Whether that root is anchored, its checkpoint tells.
 */
export function failuresOf(
  file: StatementFile,
  trusted: readonly TrustedSigner[],
): StatementCheck[] {
  const record = canonical(file.record)
  const index = BigInt(file.log_index)
  const digest = statementDigest(file.handle, BigInt(file.as_of_size), record)
  const recovered = recoverSigner(digest, file.signature)
  const mayHaveSigned = ({ address, fromIndex, untilIndex }: TrustedSigner) =>
    recovered.ok &&
    address === recovered.address &&
    fromIndex <= index &&
    (untilIndex === null || index < untilIndex)
  const isRecord =
    toHex(sha256(record)) === file.record_hash && String(file.record.as_of_size) === file.as_of_size
  const checks: [StatementCheck, boolean][] = [
    ['record', isRecord],
    ['digest', toHex(digest) === file.digest],
    ['signature', recovered.ok && recovered.address === file.signer],
    ['signer', trusted.some(mayHaveSigned)],
    ['inclusion', isIncluded(file, digest)],
  ]
  return checks.filter(([, holds]) => !holds).map(([name]) => name)
}

function isIncluded({ proof, log_index: index }: StatementFile, digest: Uint8Array): boolean {
  if (!proof || proof.index !== index || proof.size !== proof.checkpoint.size) return false
  const leaf = leafHash(leafKinds.passportStatement, digest)
  if (toHex(leaf) !== proof.leaf) return false
  return verifyInclusion({
    index: BigInt(index),
    size: BigInt(proof.size),
    leaf,
    path: proof.path.map(fromHex),
    root: fromHex(proof.checkpoint.root),
  })
}
