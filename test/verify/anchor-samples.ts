import type { Hex } from '../../src/kernel/hex.ts'
import { type ChainEvidence, registryLogId } from '../../src/verify/check-anchor.ts'
import type { Proof, ProofAnchor } from '../../src/verify/proof.ts'
import type { ReceiptFile } from '../../src/verify/receipt.ts'
import { proofAt } from './proof-samples.ts'
import { facts, fileOf } from './samples.ts'

/** Contracts and owners that are not one's. */
export const registry = `0x${'a1'.repeat(20)}`
export const owner = `0x${'b2'.repeat(20)}`

const place = { chain_id: 4663, registry, log_owner: owner }

export const waiting = (
  status: 'pending' | 'submitted' | 'superseded' | 'failed',
): ProofAnchor => ({
  status,
  ...place,
  expected_by: '2026-11-21T00:51:00.000Z',
})

export const onChain = (size: number, status: 'confirmed' | 'final' = 'final'): ProofAnchor => ({
  status,
  ...place,
  size: String(size),
  tx_hash: `0x${'c3'.repeat(32)}`,
  block_number: '8120391',
  block_hash: `0x${'d4'.repeat(32)}`,
  block_time: '2026-11-21T00:45:00.000Z',
})

/** The sample receipt with a proof that says where its anchor is. */
export const anchoredFile = (
  size = 13,
  anchor: ProofAnchor = onChain(size),
): ReceiptFile & { proof: Proof } => ({ ...fileOf(), proof: { ...proofAt(size), anchor } })

export type Read = Extract<ChainEvidence, { status: 'read' }>

/** What an honest chain says of the sample log at a size. */
export function evidenceAt(size = 13, change: Partial<Read> = {}): Read {
  const root: Hex = proofAt(size).checkpoint.root
  return {
    status: 'read',
    registry,
    owner,
    log: registryLogId(registry, owner, facts.issuer),
    size: String(size),
    root,
    finalRoot: root,
    signerAllowed: true,
    ...change,
  }
}
