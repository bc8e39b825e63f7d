import type { Deps } from '../deps.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Carried, toCarried } from '../verify/carried.ts'
import type { ChainEvidence } from '../verify/check-anchor.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import type { Trust, Verdict } from '../verify/verify.ts'
import { verifyWithChain } from './evidence.ts'
import type { Ended } from './receipt.ts'
import { askerOf, trustIn, trustOf } from './verify.ts'

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
  return judge(deps, file, trustOf(deps, stored, file))
}

/**
 * Judges what somebody hands in, by this server's signers, or by those that they name: then it is
 * their trust alone, and what this server knows does not matter.
 */
export async function judgeGiven(
  deps: Parameters<typeof judgeStored>[0] & Parameters<typeof trustIn>[0],
  file: ReceiptFile,
  signers: readonly string[],
): Promise<Judged> {
  const named = { signers: signers.map((address) => ({ address })) }
  return judge(deps, file, signers.length > 0 ? named : await trustIn(deps, file))
}

async function judge(
  deps: Pick<Deps, 'anchoring' | 'clock'>,
  file: ReceiptFile,
  trust: Trust,
): Promise<Judged> {
  const now = deps.clock.now()
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
