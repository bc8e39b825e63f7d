import type { Deps } from '../deps.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Carried, toCarried } from '../verify/carried.ts'
import type { ChainEvidence } from '../verify/check-anchor.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import type { Verdict } from '../verify/verify.ts'
import { verifyWithChain } from './evidence.ts'
import type { Ended } from './receipt.ts'
import { askerOf, trustOf } from './verify.ts'

/** A receipt as this server judges it, and all that a browser needs to come to its own verdict. */
export type Judged = { file: ReceiptFile; verdict: Verdict; carried: Carried; now: Millis }

/** How long a page waits for the chain, in ms; what comes later is there for the next reader. */
const patienceMs = 400

/** Judges a stored receipt in the form in which its page shows it. */
export async function judgeStored(
  deps: Pick<Deps, 'signers' | 'logs' | 'anchoring' | 'clock'>,
  stored: Ended,
  file: ReceiptFile,
): Promise<Judged> {
  const now = deps.clock.now()
  const trust = trustOf(deps, stored, file)
  const ask = askerOf(deps)
  let chain: ChainEvidence | undefined
  const verdict = await verifyWithChain({ file }, trust, { chain: 'auto' }, async (claim) => {
    const said = await soonEnough(ask(claim))
    // A browser may not ask the chain itself: it must say who did.
    chain = said?.status === 'read' ? { ...said, note: 'This service asked the chain.' } : said
    return chain
  })
  return { file, verdict, carried: toCarried(file, chain ? { ...trust, chain } : trust, now), now }
}

const late: ChainEvidence = {
  status: 'unavailable',
  reason: 'The chain was asked and has not answered yet. Check again.',
}

function soonEnough(asked: Promise<ChainEvidence | undefined>): Promise<ChainEvidence | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, patienceMs, late)
    asked.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
