/** Checks the evidence that the upstream of a run signed its answer, from a file alone. */
import { sha256 } from '@noble/hashes/sha2.js'
import { type Hex, toHex } from '../kernel/hex.ts'
import {
  type EvidenceCheck,
  fail,
  type Outcome,
  pass,
  type TrustedSigner,
  told,
  unavailable,
} from './checks.ts'
import { structDigest } from './eip712.ts'
import { type EvidenceFault, type ExchangeHashes, schemeOf, spellKey } from './evidence-schemes.ts'
import { checkCheckpoint, type LogPlace, leadsToRoot, readLogPlace } from './log-place.ts'
import { leafKinds } from './merkle.ts'
import {
  isHidden,
  isObject,
  type Problem,
  type Receipt,
  readMember,
  readStruct,
  refuseOthers,
  say,
} from './receipt.ts'

/** The statement that is a leaf of the log: which exchange of which run a key signed. */
export type UpstreamEvidence = {
  /** Origin of the log that this is a leaf of, and of the receipt. */
  issuer: string
  receipt_id: string
  receipt_digest: Hex
  /** The upstream and its model, as the route of the receipt has them. */
  upstream: string
  model: string
  scheme: string
  /** The key that signed, in the spelling of its scheme. */
  key: string
  /** Hashes of the bytes sent to the upstream, and of those that came back. */
  request_sha256: Hex
  answer_sha256: Hex
  /** Hash of the document's text. */
  document_sha256: Hex
  /** Milliseconds. */
  checked_at: string
  salt: Hex
}

/** The file form, version 1. */
export type EvidenceFile = {
  type: 'counterfoil.upstream_evidence'
  version: '1'
  statement: UpstreamEvidence
  /** The document that the upstream served, in the one spelling of its scheme. */
  document: string
  log: LogPlace
}

/** The digest that the leaf of the log holds. */
export const evidenceDigest = (statement: UpstreamEvidence): Uint8Array =>
  structDigest('UpstreamEvidence', statement)

/** Tells whether this is meant as such a file; the check tells what is wrong. */
export const isEvidenceFile = (value: unknown): boolean =>
  isObject(value) && value['type'] === 'counterfoil.upstream_evidence'

/** The check of a receipt with this file beside it; `before` are problems of its text. */
export function evidenceCheck(value: unknown, before: readonly Problem[] = []): EvidenceCheck {
  const problems = [...before]
  const file = parseEvidenceFile(value, problems)
  return (receipt, digest, trust) => {
    if (!file || problems.length > 0) {
      const what = problems.map(({ path, message }) => `${told(path)}: ${message}`).join('; ')
      return fail(`The evidence of the upstream cannot be read: ${what}.`)
    }
    return (
      wrongReceipt(file.statement, receipt, digest) ??
      wrongDocument(file) ??
      wrongLeaf(file) ??
      wrongHead(file, trust.signers) ??
      judgeKey(file, trust.upstreamKeys)
    )
  }
}

const fileMembers = new Set(['type', 'version', 'statement', 'document', 'log'])

/** UTF-16 units: a document has hashes and signatures. */
export const mostDocument = 8192

/** Reads a file strictly; undefined with the problems noted. Never throws. */
export function parseEvidenceFile(value: unknown, problems: Problem[]): EvidenceFile | undefined {
  const before = problems.length
  if (!isObject(value)) return say(problems, '', 'not an object')
  if (!isEvidenceFile(value)) say(problems, 'type', 'not "counterfoil.upstream_evidence"')
  if (value['version'] !== '1') say(problems, 'version', 'not "1"')
  refuseOthers(value, fileMembers, '', problems)
  readStruct('UpstreamEvidence', value['statement'], 'statement', problems)
  const { document } = value
  readMember('string', document, 'document', problems)
  if (typeof document === 'string' && document.length > mostDocument) {
    say(problems, 'document', `longer than ${mostDocument} characters`)
  }
  readLogPlace(value['log'], problems)
  return problems.length > before ? undefined : (value as EvidenceFile)
}

/** The exchange that a statement is about, as schemes compare it. */
export const exchangeOf = (statement: UpstreamEvidence): ExchangeHashes => ({
  request: statement.request_sha256.slice(2),
  answer: statement.answer_sha256.slice(2),
  model: statement.model,
})

function wrongReceipt(
  statement: UpstreamEvidence,
  { id, issuer, run }: Receipt,
  digest: Uint8Array,
): Outcome | undefined {
  const { receipt_id: named, receipt_digest: claimed } = statement
  if (named !== id || claimed !== toHex(digest)) {
    return fail(`The evidence is of another receipt: ${told(named)}.`)
  }
  if (statement.issuer !== issuer) {
    return fail(`Expected evidence in the log of ${told(issuer)}; found ${told(statement.issuer)}.`)
  }
  const served = `${statement.upstream}:${statement.model}`
  if (isHidden(run) || run.route === served) return undefined
  return fail(`The evidence is of ${told(served)}; the run was answered by ${told(run.route)}.`)
}

const faultWords: Record<EvidenceFault, string> = {
  unreadable: 'The document of the upstream is not one of its scheme.',
  wrong_hashes: 'The upstream signed another request or answer.',
  wrong_model: 'The upstream signed an answer of another model.',
  bad_signature: 'The key that the upstream names did not sign.',
}

function wrongDocument({ statement, document }: EvidenceFile): Outcome | undefined {
  const hash = toHex(sha256(new TextEncoder().encode(document)))
  if (hash !== statement.document_sha256) {
    return fail('The document of the upstream is not the one that was logged.')
  }
  const scheme = schemeOf(statement.scheme)
  if (!scheme) {
    return unavailable(`This verifier does not know the scheme ${told(statement.scheme)}.`)
  }
  const signed = scheme.check(document, exchangeOf(statement))
  if (!signed.ok) return fail(faultWords[signed.why])
  if (spellKey(signed.key) === spellKey(statement.key)) return undefined
  return fail(`Expected a signature of ${told(statement.key)}; found one of ${signed.key}.`)
}

function wrongLeaf({ statement, log }: EvidenceFile): Outcome | undefined {
  if (leadsToRoot(log, leafKinds.upstreamEvidence, evidenceDigest(statement))) return undefined
  return fail(
    `The path does not lead from the evidence, leaf ${log.index}, to the root of the log.`,
  )
}

function wrongHead(
  { statement, log }: EvidenceFile,
  signers: readonly TrustedSigner[] | undefined,
): Outcome | undefined {
  const checked = checkCheckpoint(log.checkpoint, statement.issuer, signers)
  return checked.status === 'pass' ? undefined : checked
}

function judgeKey(
  { statement: { key, scheme }, log }: EvidenceFile,
  named: readonly string[] | undefined,
): Outcome {
  if (!named) {
    const what = `${told(key)} signed the hashes of the exchange (${told(scheme)})`
    return unavailable(`${what}; name the upstream key that you know to compare with.`)
  }
  if (!named.some((one) => spellKey(one) === spellKey(key))) {
    const keys = named.map((one) => told(one)).join(' or ')
    return fail(`Expected the upstream key ${keys}; found ${told(key)}.`)
  }
  return pass(
    `The upstream key ${told(key)} signed the exchange; leaf ${log.index} of the log says so.`,
  )
}
