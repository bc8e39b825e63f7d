/** Reads what a reader holds beside a receipt: a quote, evidence, and a policy of whom to trust. */
import type { EvidenceCheck, QuoteCheck } from './checks.ts'
import { readJsonText } from './json-text.ts'
import { type Policy, readPolicy, trustBy } from './policy.ts'
import { isQuoteFile, quoteCheck } from './quote.ts'
import type { Problem } from './receipt.ts'
import { evidenceCheck, isEvidenceFile } from './upstream-evidence.ts'
import type { Trust } from './verify.ts'

/** The quote that the receipt has to keep, and the demands of the reader. */
export type Supplements = {
  quote: QuoteCheck | undefined
  /** The check of the evidence that the upstream signed its answer. */
  attested?: EvidenceCheck | undefined
  /** Members that the text of the quote repeats. */
  problems: readonly Problem[]
  policy: Policy
}

export type SupplementsResult =
  | { ok: true; beside: Supplements }
  | { ok: false; field: 'quote' | 'evidence' | 'policy'; message: string }

/** Reads the texts; an empty one asks for nothing. */
export function readSupplements(texts: {
  quote: string
  evidence: string
  policy: string
}): SupplementsResult {
  const quote = readQuoteText(texts.quote)
  if (typeof quote === 'string') return { ok: false, field: 'quote', message: quote }
  const evidence = readEvidenceText(texts.evidence)
  if (typeof evidence === 'string') return { ok: false, field: 'evidence', message: evidence }
  const policy = readPolicyText(texts.policy)
  if (typeof policy === 'string') return { ok: false, field: 'policy', message: policy }
  return { ok: true, beside: { ...quote, ...evidence, policy } }
}

/** The check of a quote; text says what is wrong. */
export function readQuoteText(text: string): Pick<Supplements, 'quote' | 'problems'> | string {
  if (text.trim() === '') return { quote: undefined, problems: [] }
  const read = readJsonText(text)
  return read && isQuoteFile(read.value)
    ? { quote: quoteCheck(read.value), problems: read.repeated }
    : 'This is not a quote. Paste the answer of POST /v1/quotes.'
}

/** The check of evidence of an upstream; text says what is wrong. */
export function readEvidenceText(text: string): Pick<Supplements, 'attested'> | string {
  if (text.trim() === '') return {}
  const read = readJsonText(text)
  return read && isEvidenceFile(read.value)
    ? { attested: evidenceCheck(read.value, read.repeated) }
    : 'This is not such evidence. Paste the answer of the proof with ?format=evidence.'
}

/** A policy; text says what is wrong. */
export function readPolicyText(text: string): Policy | string {
  if (text.trim() === '') return { chain: 'auto' }
  const read = readPolicy(text)
  return read.ok ? read.policy : `This is not a policy: ${read.problems.join('; ')}.`
}

/**
 * The trust of a reader. Signers named by hand go before those of the policy; either takes the
 * place of all that a service says of itself in `own`.
 */
export function trustWith(own: Trust, policy: Policy, named: readonly string[]): Trust {
  const isOwn = named.length === 0 && policy.signers === undefined
  return {
    ...(isOwn ? own : {}),
    ...trustBy(policy),
    ...(named.length > 0 && { signers: named.map((address) => ({ address })) }),
  }
}
