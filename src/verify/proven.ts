/** Says what the checks of a receipt prove, and what not. */
import { isLogged } from './check-log.ts'
import type { CheckName, Outcome } from './checks.ts'

/** How far a receipt's evidence reaches. */
export type Level = 'signed' | 'logged' | 'anchored' | 'final'

/** Each removes a way to deceive by itself. */
export type Evidence = 'signed' | 'logged' | 'witnessed' | 'attested' | 'anchored' | 'final'

type Outcomes = Record<CheckName, Outcome>

export const neverProven = [
  'that the named model really produced the text',
  'that the text is true',
  'that a run which was never logged did not happen',
]

export const notLogged = 'that the receipt is in the log'
export const notAnchored = 'that the operator cannot drop or rewrite the log later'
const notFinal = 'that the chain keeps the block of the anchor: it is not final yet'

export function provenBy(outcomes: Outcomes): string[] {
  const proven: string[] = []
  if (!isSigned(outcomes)) return proven
  proven.push('that the trusted signer signed exactly these fields')
  if (isPass(outcomes.arithmetic)) proven.push('that the amount follows from the lines')
  if (isPass(outcomes.quote)) proven.push('that it is charged at the quoted rates or less')
  if (isPass(outcomes.content_input))
    proven.push('that the disclosed input is the one committed to')
  if (isPass(outcomes.content_output))
    proven.push('that the disclosed output is the one committed to')
  if (isLogged(outcomes))
    proven.push('that it is in the log that the trusted signer signed the root of')
  if (isPass(outcomes.checkpoint_consistent))
    proven.push('that the log was not rewritten between the two checkpoints')
  if (isPass(outcomes.witnessed)) proven.push('that the named witnesses saw it in the log')
  if (isPass(outcomes.attested))
    proven.push('that the upstream signed hashes which the signer ties to this run')
  const level = levelOf(outcomes)
  if (level === 'anchored' || level === 'final')
    proven.push('that the root of that log is on chain 4663, where it cannot be changed')
  if (level === 'final') proven.push('that the block of the anchor is final')
  return proven
}

export function notProvenBy(outcomes: Outcomes): string[] {
  const level = isSigned(outcomes) ? levelOf(outcomes) : 'signed'
  if (level === 'final') return neverProven
  if (level === 'anchored') return [...neverProven, notFinal]
  return [...neverProven, ...(level === 'logged' ? [] : [notLogged]), notAnchored]
}

export const evidenceOf = (outcomes: Outcomes): Evidence[] => [
  ...levels.slice(0, levels.indexOf(levelOf(outcomes)) + 1),
  ...(['witnessed', 'attested'] as const).filter((name) => isPass(outcomes[name])),
]

const levels: readonly Level[] = ['signed', 'logged', 'anchored', 'final']

/** How far the evidence reaches, each level on top of the one before. */
export function levelOf(outcomes: Outcomes): Level {
  if (!isLogged(outcomes)) return 'signed'
  if (!isPass(outcomes.anchor)) return 'logged'
  return isPass(outcomes.anchor_final) ? 'final' : 'anchored'
}

export const isSigned = ({ schema, digest, signature, signer_authorized }: Outcomes) =>
  [schema, digest, signature, signer_authorized].every(isPass)

export const isPass = ({ status }: Outcome): boolean => status === 'pass'
