/** The words of a verdict for people. */
import type { Check, CheckName } from './checks.ts'
import type { Level, Verdict } from './verify.ts'

/** The title of each check when it passes and when it fails. */
const titles: Record<CheckName, [holds: string, fails: string]> = {
  schema: ['The file is a receipt', 'The file is not a whole receipt'],
  digest: ['No field was changed', 'A field was changed'],
  signature: ['The signature is whole', 'The signature is none'],
  signer_authorized: ['A trusted key signed it', 'No trusted key signed it'],
  issuer: ['The issuer is the expected one', 'The issuer is another one'],
  arithmetic: ['The total adds up', 'The total does not add up'],
  quote: ['The quote was kept', 'The quote was not kept'],
  leaf: ['The proof is of this receipt', 'The proof is of another receipt'],
  inclusion: ['The receipt is in the log', 'The receipt is not in this log'],
  checkpoint_signature: ['A trusted key signed the log', 'No trusted key signed the log'],
  checkpoint_consistent: ['The log was not rewritten', 'The log was rewritten'],
  anchor: ['The log is on chain 4663', 'The chain says otherwise'],
  anchor_final: ['Its block is final', 'The final block says otherwise'],
  witnessed: ['Witnesses saw the log', 'The witnesses say otherwise'],
  attested: ['The upstream signed its answer', 'The upstream did not sign it'],
  content_input: ['The input fits its commitment', 'The input is another one'],
  content_output: ['The output fits its commitment', 'The output is another one'],
  known_here: ['The server that was asked issued it', 'The server that was asked did not issue it'],
}

/** A check in words, as it came out. */
export const titleOf = ({ name, status }: Pick<Check, 'name' | 'status'>): string =>
  titles[name][status === 'fail' ? 1 : 0]

/** How far the evidence reaches, in words. */
export const levelWords: Record<Level, string> = {
  signed: 'Signed',
  logged: 'Signed and logged',
  anchored: 'Anchored',
  final: 'Final',
}

/** `unsure`: nothing is wrong, but a trusted signer or a required check is missing. */
export type VerdictKind = 'good' | 'bad' | 'unsure'

export function kindOf({ valid, checks }: Verdict): VerdictKind {
  if (checks.some(({ status }) => status === 'fail')) return 'bad'
  return valid ? 'good' : 'unsure'
}

/** The one line that stands above all checks. */
export function headlineOf(verdict: Verdict): string {
  const kind = kindOf(verdict)
  if (kind === 'bad') return 'Not valid'
  if (kind === 'unsure') return 'Undecided'
  return verdict.level === null || verdict.level === 'signed'
    ? 'Verified'
    : levelWords[verdict.level]
}

/** The verdict in one or two sentences. */
export function summaryOf(verdict: Verdict): string {
  const { signer, level, checks } = verdict
  const failures = checks.filter(({ status }) => status === 'fail').length
  const many = failures === 1 ? 'One check fails' : `${failures} checks fail`
  if (failures > 0) return `${many}. Do not rely on this receipt.`
  if (!verdict.valid) {
    return checks.some(({ name, status }) => name === 'signer_authorized' && status !== 'pass')
      ? `${signer} signed it, but no trusted signer was given to compare with.`
      : 'Nothing fails, but what was required could not be checked.'
  }
  const more = level === null ? '' : beyond[level]
  return `Signed by ${signer}.${more}`
}

/** The evidence that a valid verdict has, and lacks; empty for any other. */
export function evidenceOf({ evidence, witnesses }: Verdict): string {
  if (evidence.length === 0) return ''
  const names = witnesses.map(({ name }) => name).join(', ')
  const has = evidence.map((one) => wordFor(one, names))
  const lacks = (['logged', 'witnessed', 'anchored'] as const)
    .filter((one) => !evidence.includes(one))
    .map((one) => ` Not ${one}.`)
  return `Evidence: ${has.join(', ')}.${lacks.join('')}`
}

/** A kind of evidence in a sentence. */
export function wordFor(one: Verdict['evidence'][number], witnesses: string): string {
  if (one === 'witnessed') return `witnessed by ${witnesses}`
  return one === 'attested' ? 'attested upstream' : one
}

const beyond: Record<Level, string> = {
  signed: '',
  logged: ' It is in the log that was signed; the chain was not asked or has no anchor yet.',
  anchored: ' Its log is on the chain, in a block that is not final yet.',
  final: ' Its log is on the chain permanently.',
}
