/** The verifier for pages, as one module. */
import {
  type Trust,
  type Verdict,
  type VerifyInput,
  type VerifyOptions,
  verifyReceipt,
} from '../verify/verify.ts'

export { toTrust } from '../verify/page-payload.ts'
export { parseReceiptFile, redact, sectionNames } from '../verify/receipt.ts'
export { proofIn, shownChecks, stampWords, stateWords } from '../verify/shown-checks.ts'
export { hiddenWords, slipLines, totalOf } from '../verify/slip-lines.ts'
export {
  evidenceOf,
  headlineOf,
  kindOf,
  levelWords,
  summaryOf,
  titleOf,
} from '../verify/verdict-words.ts'

/** Verifies a receipt in the reader's own browser, without any request. Never throws. */
export const verify = (
  input: VerifyInput,
  trust: Trust,
  chain: VerifyOptions['chain'] = 'auto',
): Verdict => verifyReceipt(input, trust, { chain })
