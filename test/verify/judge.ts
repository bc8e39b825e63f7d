import type { CheckName } from '../../src/verify/checks.ts'
import {
  type Trust,
  type Verdict,
  type VerifyInput,
  type VerifyOptions,
  verifyReceipt,
} from '../../src/verify/verify.ts'
import { testSigner } from './samples.ts'

export const trust: Trust = { signers: [{ address: testSigner.address }] }

export const judge = (
  file: unknown,
  by: Trust = trust,
  options: Partial<VerifyOptions> = {},
  beside: Omit<VerifyInput, 'file'> = {},
) => verifyReceipt({ ...beside, file }, by, { chain: 'auto', ...options })

export const failed = (verdict: Verdict): CheckName[] =>
  verdict.checks.filter(({ status }) => status === 'fail').map(({ name }) => name)

export const statusOf = (verdict: Verdict, name: CheckName) =>
  verdict.checks.find((check) => check.name === name)?.status

/** Puts a value at a place like `receipt.run.model`. */
export function set(target: unknown, path: string, value: unknown): void {
  const steps = path.split('.')
  const last = steps.pop() ?? ''
  let at = target as Record<string, unknown>
  for (const step of steps) at = at[step] as Record<string, unknown>
  at[last] = value
}
