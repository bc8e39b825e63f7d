import type { CheckName } from './checks.ts'
import type { Level, Verdict } from './verify.ts'

/** What each check asks, as a sentence that is true when it passes. */
export const checkTitles: Record<CheckName, string> = {
  schema: 'The file is a receipt',
  digest: 'No field was changed',
  signature: 'The signature is whole',
  signer_authorized: 'A trusted key signed it',
  issuer: 'The issuer is the expected one',
  arithmetic: 'The total adds up',
  leaf: 'The proof is of this receipt',
  inclusion: 'The receipt is in the log',
  checkpoint_signature: 'A trusted key signed the log',
  checkpoint_consistent: 'The log was not rewritten',
  anchor: 'The log is on chain 4663',
  anchor_final: 'Its block is final',
  content_input: 'The input is the one committed to',
  content_output: 'The output is the one committed to',
  known_here: 'The server that was asked issued it',
}

/** How far the evidence reaches, in words. */
export const levelWords: Record<Level, string> = {
  signed: 'Signed',
  logged: 'Signed and logged',
  anchored: 'Anchored',
  final: 'Final',
}

/** `unsure`: nothing is wrong, but somebody must be named as trusted or a required check made. */
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

/** What follows from it, for somebody who reads no further. */
export function summaryOf(verdict: Verdict): string {
  const { signer, level, checks } = verdict
  const failures = checks.filter(({ status }) => status === 'fail').length
  const many = failures === 1 ? 'One check fails' : `${failures} checks fail`
  if (failures > 0) return `${many}. Do not rely on this receipt.`
  if (!verdict.valid) {
    return checks.some(({ name, status }) => name === 'signer_authorized' && status !== 'pass')
      ? `Nobody was named as trusted, so this says only what holds. ${signer} signed it.`
      : 'Nothing fails, but what was required could not be checked.'
  }
  const more = level === null ? '' : beyond[level]
  return `Signed by ${signer}.${more}`
}

const beyond: Record<Level, string> = {
  signed: '',
  logged: ' It is in the log that was signed; the chain was not asked or has no anchor yet.',
  anchored: ' Its log is on the chain, in a block that is not final yet.',
  final: ' Its log is on the chain for ever.',
}
