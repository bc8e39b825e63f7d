/** Packs and reads the data by which a page's own script verifies a receipt. */
import type { ChainEvidence } from './check-anchor.ts'
import type { WitnessVerdict } from './check-witnesses.ts'
import type { ReceiptFile } from './receipt.ts'
import type { EvidenceFile } from './upstream-evidence.ts'
import type { Trust } from './verify.ts'

/**
 * The data in a page from which its script judges the receipt, as JSON: the file, the signers that
 * the service names, and what it read from the chain. Log indices are decimal text.
 */
export type PagePayload = {
  file: ReceiptFile
  signers: { address: string; from: string; until: string | null }[]
  issuers: string[]
  chain: ChainEvidence | null
  /** The service's finding on its witnesses; their mathematics would double the verifier. */
  witnessed?: WitnessVerdict
  /** The upstream's signature over the run; `upstreamKeys` are those the service trusts for it. */
  evidence?: EvidenceFile
  upstreamKeys?: readonly string[]
  /** The server's time, for how long something may still take. */
  now: number
}

export const toPagePayload = (
  file: ReceiptFile,
  trust: Trust,
  now: number,
  witnessed?: WitnessVerdict,
): PagePayload => ({
  file,
  signers: payloadSigners(trust.signers ?? []),
  issuers: [...(trust.issuers ?? [])],
  chain: trust.chain ?? null,
  ...(witnessed && { witnessed: toTold(witnessed) }),
  now,
})

/** The reader is told that the service checked the signatures. */
const toTold = ({ outcome: { status, reason }, seen }: WitnessVerdict): WitnessVerdict => ({
  outcome: { status, reason: `${reason} This service checked it.` },
  seen,
})

export const payloadSigners = (signers: NonNullable<Trust['signers']>): PagePayload['signers'] =>
  signers.map(({ address, fromIndex, untilIndex }) => ({
    address,
    from: String(fromIndex ?? 0),
    until: untilIndex === undefined ? null : String(untilIndex),
  }))

export const toTrust = ({
  signers,
  issuers,
  chain,
  witnessed,
}: Omit<PagePayload, 'file' | 'now' | 'evidence' | 'upstreamKeys'>): Trust => ({
  signers: signers.map(({ address, from, until }) => ({
    address,
    fromIndex: BigInt(from),
    ...(until === null ? {} : { untilIndex: BigInt(until) }),
  })),
  issuers,
  ...(chain ? { chain } : {}),
  ...(witnessed && { witnesses: () => witnessed }),
})
