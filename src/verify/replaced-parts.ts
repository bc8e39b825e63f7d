/** Judges the parts of a receipt file that others beside it replace: a reader may show either. */
import type { LogVerdict } from './check-log.ts'
import { type Check, checkContent, type Outcome } from './checks.ts'
import { parseProof } from './proof.ts'
import {
  type Disclosures,
  isObject,
  type Problem,
  type Receipt,
  readDisclosures,
} from './receipt.ts'

/** A proof and disclosures in the file; each undefined where nothing replaces it. */
export type ReplacedParts = {
  proof?: unknown
  disclosures?: Disclosures | undefined
  problems: Problem[]
}

type ReceiptParts = { file: unknown; proof?: unknown; disclosures?: unknown }

/** Reads the parts of the file that others replace. `id` is the receipt's. Never throws. */
export function replacedParts(
  { file, proof, disclosures }: ReceiptParts,
  id: string,
): ReplacedParts {
  const problems: Problem[] = []
  const inside = isObject(file) ? file : {}
  const isReplaced = proof !== undefined && proof !== null && isObject(inside['proof'])
  const own = isReplaced ? parseProof(inside['proof'], id, problems) : undefined
  const shown = disclosures ? readDisclosures(inside['disclosures'], problems) : undefined
  return { proof: own, disclosures: shown, problems }
}

type Outcomes = Record<Check['name'], Outcome>

/** The outcomes of the checks that both parts must pass: a fault of the replaced one counts. */
export function allHold(
  given: Outcomes,
  log: LogVerdict['outcomes'],
  { disclosures }: ReplacedParts,
  { content }: Receipt,
): Outcomes {
  const outcomes = { ...given }
  const replaced = {
    ...log,
    content_input: checkContent('input', content, disclosures),
    content_output: checkContent('output', content, disclosures),
  }
  for (const [name, { status, reason }] of Object.entries(replaced) as [Check['name'], Outcome][]) {
    if (status !== 'fail' || given[name].status === 'fail') continue
    outcomes[name] = { status, reason: `In the file itself: ${reason}` }
  }
  return outcomes
}
