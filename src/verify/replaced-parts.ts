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
type Replaced = Pick<Outcomes, keyof LogVerdict['outcomes'] | 'content_input' | 'content_output'>

/** The outcomes of the checks that both parts must pass: a fault of the replaced one counts. */
export function allHold(
  given: Outcomes,
  log: LogVerdict['outcomes'],
  { disclosures }: ReplacedParts,
  { content }: Receipt,
): Replaced {
  return {
    leaf: worse(given.leaf, log.leaf),
    inclusion: worse(given.inclusion, log.inclusion),
    checkpoint_signature: worse(given.checkpoint_signature, log.checkpoint_signature),
    checkpoint_consistent: given.checkpoint_consistent,
    content_input: worse(given.content_input, checkContent('input', content, disclosures)),
    content_output: worse(given.content_output, checkContent('output', content, disclosures)),
  }
}

const worse = (given: Outcome, replaced: Outcome): Outcome =>
  given.status !== 'fail' && replaced.status === 'fail'
    ? { ...replaced, reason: `In the file itself: ${replaced.reason}` }
    : given
