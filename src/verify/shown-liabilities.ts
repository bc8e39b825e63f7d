/** Words for the checks of a liabilities statement, for a page and for its script. */
import type { LiabilitiesCheck } from './liabilities.ts'
import type { VerdictKind } from './verdict-words.ts'

/** A check as pages show it. */
export type ShownLiability = { result: 'ok' | 'wait' | 'bad'; label: string; detail: string }

const labels: Record<LiabilitiesCheck['name'], [good: string, bad: string]> = {
  schema: ['The file is whole', 'The file cannot be read'],
  issuer: ['It is of this service', 'It is of another service'],
  signature: ['Signed by this service', 'Not signed by this service'],
  inclusion: ['In the public log', 'Not in the public log'],
  checkpoint: ['The log is signed', 'The log is not signed by this service'],
  age: ['It is recent', 'It is too old'],
  account: ['It counts your account', 'It counts another account'],
  sum: ['Your balance is part of the total', 'Your balance is not part of the total'],
}

/** The title of a check as it came out. */
export const liabilityTitle = ({ name, status }: LiabilitiesCheck): string =>
  labels[name][status === 'fail' ? 1 : 0]

/** The line above all checks, and one sentence below it. */
export function liabilityVerdict(checks: readonly LiabilitiesCheck[]): {
  kind: VerdictKind
  headline: string
  summary: string
} {
  const statusOf = (wanted: LiabilitiesCheck['name']) =>
    checks.find(({ name }) => name === wanted)?.status
  const failures = checks.filter(({ status }) => status === 'fail').length
  if (failures > 0) {
    const many = failures === 1 ? 'One check fails' : `${failures} checks fail`
    return { kind: 'bad', headline: 'Not valid', summary: `${many}. Do not rely on this file.` }
  }
  const isSigned = statusOf('signature') === 'pass' && statusOf('checkpoint') === 'pass'
  if (!isSigned || statusOf('account') === 'unavailable') {
    const lacks = isSigned ? 'no account was named' : 'no trusted signer was given'
    const summary = `Nothing fails, but ${lacks} to compare with.`
    return { kind: 'unsure', headline: 'Undecided', summary }
  }
  return statusOf('sum') === 'pass'
    ? { kind: 'good', headline: 'Counted', summary: 'This balance is part of the signed total.' }
    : { kind: 'good', headline: 'Signed and logged', summary: 'It has the total alone.' }
}

/** The checks that were made, in their order. */
export const shownLiabilities = (checks: readonly LiabilitiesCheck[]): ShownLiability[] =>
  checks.flatMap((check): ShownLiability[] => {
    const { status, reason: detail } = check
    if (status === 'skip') return []
    const result = status === 'pass' ? 'ok' : status === 'fail' ? 'bad' : 'wait'
    return [{ result, label: liabilityTitle(check), detail }]
  })
