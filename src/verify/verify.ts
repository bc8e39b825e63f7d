/** Verifies a receipt: bytes in, checks out, without input or output. */
import { type Hex, toHex } from '../kernel/hex.ts'
import { type AnchorOutcomes, type ChainEvidence, checkAnchor } from './check-anchor.ts'
import { checkLog, type LogEvidence, type LogVerdict } from './check-log.ts'
import type { JudgeWitnesses, Sighting } from './check-witnesses.ts'
import {
  type Check,
  type CheckName,
  type CheckStatus,
  checkArithmetic,
  checkContent,
  checkDigest,
  checkIssuer,
  checkNames,
  checkSchema,
  checkSignature,
  checkSigner,
  type EvidenceCheck,
  noQuote,
  type Outcome,
  type QuoteCheck,
  skip,
  type TrustedSigner,
  unavailable,
} from './checks.ts'
import {
  type Evidence,
  evidenceOf,
  isPass,
  isSigned,
  type Level,
  levelOf,
  neverProven,
  notAnchored,
  notLogged,
  notProvenBy,
  provenBy,
} from './proven.ts'
import {
  isHidden,
  type Problem,
  parseReceiptFile,
  type ReceiptFile,
  receiptDigest,
  type SectionName,
  sectionNames,
} from './receipt.ts'
import { allHold, replacedParts } from './replaced-parts.ts'
import { type Recovery, recoverSigner } from './signature.ts'

export type { Evidence, Level } from './proven.ts'

/**
 * A receipt file as parsed JSON; a proof and disclosures beside it replace those inside, which must
 * hold all the same. Another checkpoint of the log, with the path between, shows that the log was
 * not rewritten meanwhile.
 */
export type VerifyInput = {
  file: unknown
  disclosures?: unknown
  /** Compares with the quote that the receipt names; absent where none was given. */
  quote?: QuoteCheck | undefined
  /** Checks what the upstream signed of the run; absent where no such file was given. */
  attested?: EvidenceCheck | undefined
  /** Problems of the text that the value does not show: repeated and unknown members. */
  problems?: readonly Problem[]
} & LogEvidence

/** The reader's trust. A check whose part is absent here is skipped. */
export type Trust = {
  signers?: readonly TrustedSigner[]
  issuers?: readonly string[]
  /** The finding of the verifying server's own store, with the log index if it has the receipt. */
  known?: { status: CheckStatus; reason: string; index?: bigint }
  /** The chain's state at the proof's size; absent unless it was read. */
  chain?: ChainEvidence
  /** Judges what witnesses signed; absent unless the reader trusts any. */
  witnesses?: JudgeWitnesses
  /** Keys of upstreams that sign their answers. */
  upstreamKeys?: readonly string[]
}

export type VerifyOptions = {
  /** `require` makes the receipt invalid unless log and chain could be checked. */
  chain: 'auto' | 'skip' | 'require'
  /** RFC 3339; told, since nothing here reads a clock. */
  verifiedAt?: string
}

/** The answer of `POST /v1/receipts/verify`, in its JSON shape. */
export type Verdict = {
  valid: boolean
  level: Level | null
  /** The evidence of the verdict; empty unless it is valid. */
  evidence: Evidence[]
  /** The trusted witnesses that saw the log. */
  witnesses: Sighting[]
  receipt_id: string | null
  /** Computed from the fields, never the claimed one. */
  digest: Hex | null
  signer: string | null
  checks: Check[]
  hidden: SectionName[]
  proves: string[]
  does_not_prove: string[]
  verified_at?: string
}

/** Judges a receipt from its arguments alone; never throws. */
export function verifyReceipt(input: VerifyInput, trust: Trust, options: VerifyOptions): Verdict {
  const parsed = parseReceiptFile(withParts(input))
  const replaced = replacedParts(input, parsed.ok ? parsed.file.receipt.id : '')
  const problems = [
    ...(parsed.ok ? [] : parsed.problems),
    ...(input.problems ?? []),
    ...(parsed.ok ? replaced.problems : []),
  ]
  if (!parsed.ok || problems.length > 0) return unreadable(checkSchema(problems), options)
  const { file } = parsed
  const digest = receiptDigest(file.receipt)
  const recovered = recoverSigner(digest, file.signature)
  const { id, issuer } = file.receipt
  const evidence = { ...input, proof: file.proof }
  const required = options.chain === 'require'
  const log = checkLog({ id, issuer, digest }, evidence, trust.signers, required)
  const own = checkLog({ id, issuer, digest }, { proof: replaced.proof }, trust.signers, false)
  const witnessed = trust.witnesses?.({ issuer, digest }, log.proof)
  const told = {
    witnessed: witnessed?.outcome ?? skip('No witness was named.'),
    attested: input.attested?.(file.receipt, digest, trust) ?? skip('No evidence was given.'),
  }
  const judged = { file, digest, recovered, log, quote: input.quote }
  const given = { ...runChecks(judged, trust, options), ...told }
  const outcomes = allHold(given, own.outcomes, replaced, file.receipt)
  const checks = checkNames.map((name): Check => ({ name, ...outcomes[name] }))
  const reached = isSigned(outcomes) && checks.every(({ status }) => status !== 'fail')
  const isSeen = told.witnessed.status !== 'unavailable' && told.attested.status !== 'unavailable'
  const valid =
    reached && isSeen && (!required || logChecks.every((name) => isPass(outcomes[name])))
  return {
    valid,
    level: reached ? levelOf(outcomes) : null,
    evidence: valid ? evidenceOf(outcomes) : [],
    witnesses: (valid && witnessed?.seen) || [],
    receipt_id: file.receipt.id,
    digest: toHex(digest),
    signer: recovered.ok ? recovered.address : null,
    checks,
    hidden: sectionNames.filter((name) => isHidden(file.receipt[name])),
    proves: provenBy(outcomes),
    does_not_prove: notProvenBy(outcomes),
    ...at(options),
  }
}

/** The checks that `require` demands, without a second checkpoint, which few readers have. */
const logChecks = [
  'leaf',
  'inclusion',
  'checkpoint_signature',
  'anchor',
  'anchor_final',
] as const satisfies CheckName[]

function withParts({ file, proof, disclosures }: VerifyInput): unknown {
  if (typeof file !== 'object' || file === null) return file
  return {
    ...file,
    ...(proof === undefined || proof === null ? {} : { proof }),
    ...(disclosures ? { disclosures } : {}),
  }
}

type JudgedChecks = {
  file: ReceiptFile
  digest: Uint8Array
  recovered: Recovery
  log: LogVerdict
  quote: QuoteCheck | undefined
}

function runChecks(
  { file, digest, recovered, log, quote }: JudgedChecks,
  trust: Trust,
  options: VerifyOptions,
): Record<Exclude<CheckName, 'witnessed' | 'attested'>, Outcome> {
  const { receipt, disclosures } = file
  const signer = recovered.ok ? recovered.address : null
  return {
    schema: checkSchema(log.problems),
    digest: checkDigest(file.digest, toHex(digest)),
    signature: checkSignature(recovered),
    signer_authorized: checkSigner(recovered, trust.signers, trust.known?.index ?? log.index),
    issuer: checkIssuer(receipt.issuer, trust.issuers),
    arithmetic: checkArithmetic(receipt.charge),
    quote: (quote ?? noQuote)(receipt, trust.signers),
    ...log.outcomes,
    ...checkChain(log, signer, trust.chain, options.chain),
    content_input: checkContent('input', receipt.content, disclosures),
    content_output: checkContent('output', receipt.content, disclosures),
    known_here: trust.known
      ? { status: trust.known.status, reason: trust.known.reason }
      : skip('No store was asked.'),
  }
}

function checkChain(
  { proof, problems }: LogVerdict,
  signer: string | null,
  evidence: ChainEvidence | undefined,
  chain: VerifyOptions['chain'],
): AnchorOutcomes {
  const same = (outcome: Outcome): AnchorOutcomes => ({ anchor: outcome, anchor_final: outcome })
  const required = chain === 'require'
  if (chain === 'skip') return same(skip('The chain was not to be asked.'))
  if (proof) return checkAnchor({ proof, signer }, evidence, required)
  if (problems.length > 0) return same(skip('The proof could not be read.'))
  return same(required ? unavailable('A proof is required.') : skip('No proof was given.'))
}

/** A file that cannot be read has nothing else to check. */
function unreadable(schema: Outcome, options: VerifyOptions): Verdict {
  const rest = skip('The file could not be read.')
  return {
    valid: false,
    level: null,
    evidence: [],
    witnesses: [],
    receipt_id: null,
    digest: null,
    signer: null,
    checks: checkNames.map((name) => ({ name, ...(name === 'schema' ? schema : rest) })),
    hidden: [],
    proves: [],
    does_not_prove: [...neverProven, notLogged, notAnchored],
    ...at(options),
  }
}

const at = ({ verifiedAt }: VerifyOptions) =>
  verifiedAt === undefined ? {} : { verified_at: verifiedAt }
