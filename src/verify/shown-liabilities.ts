/** Words for the checks of a statement of what is owed, for a page and for its script. */
import type { LiabilitiesCheck } from './liabilities.ts'

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

/** The checks that were made, in their order. */
export const shownLiabilities = (checks: readonly LiabilitiesCheck[]): ShownLiability[] =>
  checks.flatMap(({ name, status, reason: detail }): ShownLiability[] => {
    if (status === 'skip') return []
    const [good, bad] = labels[name]
    if (status === 'fail') return [{ result: 'bad', label: bad, detail }]
    return [{ result: status === 'pass' ? 'ok' : 'wait', label: good, detail }]
  })
