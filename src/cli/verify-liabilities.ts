/** `verify` of a liabilities statement: signed, logged, and the path of one account. */
import type { JsonText } from '../verify/json-text.ts'
import {
  checkLiabilities,
  type LiabilitiesCheck,
  type LiabilitiesTrust,
} from '../verify/liabilities.ts'
import { exitCodes, print, printJson, say } from './context.ts'

/** Prints each check, and sets the status of the process. */
export function verifyLiabilities(file: JsonText, trust: LiabilitiesTrust, json: boolean): void {
  const checks = checkLiabilities(file.value, trust, file.repeated)
  if (json) printJson({ object: 'liabilities.verdict', checks })
  else for (const check of checks) print(lineOf(check))
  process.exitCode = exitCodeOf(checks)
  if (json) return
  if (process.exitCode === 0) print(wordsOf(checks))
  else if (process.exitCode === exitCodes.failed) print('Not valid. Do not rely on this file.')
  else say('Nothing fails, but something was not named: a --signer you trust, and your --account.')
}

const wordsOf = (checks: readonly LiabilitiesCheck[]): string =>
  checks.some(({ name, status }) => name === 'sum' && status === 'pass')
    ? 'Verified. The trusted key counted this balance in what the service owes.'
    : 'Verified. The trusted key said what the service owes to all accounts together.'

const marks = { pass: '✓', fail: '✗', skip: '-', unavailable: '?' } as const
const lineOf = ({ name, status, reason }: LiabilitiesCheck): string =>
  `${marks[status]} ${name.padEnd(12)} ${reason}`

function exitCodeOf(checks: readonly LiabilitiesCheck[]): number {
  const has = (wanted: LiabilitiesCheck['status']) => checks.some(({ status }) => status === wanted)
  if (has('fail')) return exitCodes.failed
  return has('unavailable') ? exitCodes.unavailable : 0
}
