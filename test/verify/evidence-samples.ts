import { createHash } from 'node:crypto'
import { hashTypedData, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { toHex } from '../../src/kernel/hex.ts'
import { domain, structDigest } from '../../src/verify/eip712.ts'
import type { EvidenceFile, UpstreamEvidence } from '../../src/verify/upstream-evidence.ts'
import { make, testSigner, viemTypes } from './samples.ts'

/** The second well-known test account: the key of an upstream. */
export const upstream = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)
export const upstreamAddress = upstream.address.toLowerCase()

const hex = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')
export const request = hex('{"model":"small"}')
export const answer = hex('{"id":"chatcmpl-1"}')

/** A document as an upstream serves it and a service keeps it, by the code of others. */
export async function documentOf(
  text = `small:${request}:${answer}`,
  more: object = {},
  by = upstream,
): Promise<string> {
  const signature = await by.signMessage({ message: text })
  const address = by.address.toLowerCase()
  return JSON.stringify({
    signature,
    signing_address: address,
    signing_algo: 'ecdsa',
    text,
    ...more,
  })
}

/** The digest of a statement, by the code of others. */
export const digestByViem = (statement: UpstreamEvidence): `0x${string}` =>
  hashTypedData({
    domain,
    types: viemTypes,
    primaryType: 'UpstreamEvidence',
    message: statement as never,
  })

type Wish = { statement?: Partial<UpstreamEvidence>; document?: string; size?: number }

/** Evidence of the sample receipt, logged and signed rightly even where it lies. */
export async function evidenceFileOf(wish: Wish = {}): Promise<EvidenceFile> {
  const document = wish.document ?? (await documentOf())
  const { receipt, digest } = make()
  const statement: UpstreamEvidence = {
    issuer: receipt.issuer,
    receipt_id: receipt.id,
    receipt_digest: toHex(digest),
    upstream: 'local',
    model: 'small',
    scheme: 'near-ai',
    key: upstreamAddress,
    request_sha256: `0x${request}`,
    answer_sha256: `0x${answer}`,
    document_sha256: `0x${hex(document)}`,
    checked_at: '1790000001000',
    salt: `0x${'5a'.repeat(32)}`,
    ...wish.statement,
  }
  return logged({
    type: 'counterfoil.upstream_evidence',
    version: '1',
    statement,
    document,
  } as never)
}

/** The same file in a log of two leaves, whose head is signed. */
export function logged(file: EvidenceFile, by = testSigner, issuer?: string): EvidenceFile {
  const digest = toBytes(digestByViem(file.statement))
  const leaf = createHash('sha256').update(Buffer.of(0, 6)).update(digest).digest()
  const before = createHash('sha256').update('the leaf before').digest()
  const root = createHash('sha256').update(Buffer.of(1)).update(before).update(leaf).digest()
  const head = {
    issuer: issuer ?? file.statement.issuer,
    size: '2',
    root: toHex(root),
    timestamp: '1790000002000',
  }
  const checkpoint = { ...head, signature: toHex(by.sign(structDigest('Checkpoint', head))) }
  return { ...file, log: { index: '1', path: [toHex(before)], checkpoint } }
}
