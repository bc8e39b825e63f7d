import { toHex } from '../../src/kernel/hex.ts'
import {
  append,
  consistencyRanges,
  emptyFrontier,
  type HashAt,
  hashIn,
  hashOf,
  homeOf,
  inclusionRanges,
  type Range,
} from '../../src/proof/log/tree.ts'
import { structDigest } from '../../src/verify/eip712.ts'
import { type Checkpoint, type Consistency, logIdOf, type Proof } from '../../src/verify/proof.ts'
import type { ReceiptFile } from '../../src/verify/receipt.ts'
import { facts, fileOf, make, testSigner } from './samples.ts'

/** Where the sample's receipt stands in the sample's log. */
export const sampleIndex = 5

/** A log of `size` leaves, of which one is the sample receipt. */
export function sampleLog(size: number, seed = 1) {
  const leaves = Array.from({ length: size }, (_, i) => ({
    kind: 0 as const,
    digest: i === sampleIndex ? make().digest : new Uint8Array(32).fill(i * seed),
  }))
  const { stored } = append(emptyFrontier, leaves)
  const hashAt: HashAt = (place) => {
    const leaf = stored[homeOf(place)]
    if (!leaf) throw new Error('no such leaf')
    return hashIn(leaf, place)
  }
  const hashesOf = (ranges: Range[]) => ranges.map((range) => toHex(hashOf(range, hashAt)))
  return {
    checkpoint: (to = size): Checkpoint => {
      const root = toHex(hashOf({ from: 0, to }, hashAt))
      return sign({ issuer: facts.issuer, size: String(to), root, timestamp: '1790000001000' })
    },
    path: (to = size) => hashesOf(inclusionRanges(sampleIndex, to)),
    leaf: () => toHex(hashAt({ level: 0, idx: sampleIndex })),
    consistency: (from: number, to = size): Consistency => ({
      from: String(from),
      to: String(to),
      path: hashesOf(consistencyRanges(from, to)),
    }),
  }
}

export function sign(signed: Omit<Checkpoint, 'signature'>): Checkpoint {
  return { ...signed, signature: toHex(testSigner.sign(structDigest('Checkpoint', signed))) }
}

/** The proof of the sample receipt under a checkpoint of `size`. */
export function proofAt(size: number): Proof {
  const log = sampleLog(size)
  return {
    type: 'counterfoil.proof',
    version: '1',
    receipt_id: facts.id,
    log_id: logIdOf(facts.issuer),
    index: String(sampleIndex),
    leaf: log.leaf(),
    size: String(size),
    path: log.path(),
    checkpoint: log.checkpoint(),
    anchor: { status: 'disabled' },
  }
}

/** The sample receipt with its proof. */
export const provenFile = (size = 13): ReceiptFile & { proof: Proof } => ({
  ...fileOf(),
  proof: proofAt(size),
})
