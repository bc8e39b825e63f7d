/** Judges receipts for pages, with everything a browser needs to judge them itself. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { ChainEvidence } from '../../verify/check-anchor.ts'
import type { WitnessVerdict } from '../../verify/check-witnesses.ts'
import { type PagePayload, toPagePayload } from '../../verify/page-payload.ts'
import type { Problem, ReceiptFile } from '../../verify/receipt.ts'
import { type Supplements, trustWith } from '../../verify/supplements.ts'
import { type EvidenceFile, evidenceCheck } from '../../verify/upstream-evidence.ts'
import type { Trust, Verdict, VerifyInput, VerifyOptions } from '../../verify/verify.ts'
import { trustIn, trustOf, upstreamTrust } from './check-receipt.ts'
import { verifyWithChain } from './evidence.ts'
import type { Ended } from './receipt.ts'

/** A receipt as this server judges it, and all that a browser needs to come to its own verdict. */
export type Judgement = { file: ReceiptFile; verdict: Verdict; payload: PagePayload; now: Millis }

/** How long a page waits for the chain, in ms; what comes later is there for the next reader. */
const patienceMs = 400

/** Judges a stored receipt in the form in which its page shows it. */
export async function judgeStored(
  deps: Pick<
    Deps,
    ('signers' | 'logs' | 'witnesses' | 'askChain' | 'clock') | ('upstreams' | 'upstreamEvidence')
  >,
  stored: Ended,
  file: ReceiptFile,
  evidence?: EvidenceFile,
): Promise<Judgement> {
  const trust = trustOf(deps, stored, file)
  if (!evidence) return judge(deps, { file }, trust)
  const keys = await upstreamTrust(deps, file)
  const input = { file, attested: evidenceCheck(evidence) }
  const judged = await judge(deps, input, { ...trust, ...keys })
  return { ...judged, payload: { ...judged.payload, evidence, ...keys } }
}

/** A file from a reader, with the problems that only its text shows: members given twice. */
type GivenFile = { file: ReceiptFile; problems: readonly Problem[] }

/** The parts that a reader brings beside a file: signers named by hand, a quote, a policy. */
export type Reader = { signers: readonly string[]; beside: Supplements }

export const noReader: Reader = {
  signers: [],
  beside: { quote: undefined, problems: [], policy: { chain: 'auto' } },
}

/**
 * Judges a file from a reader by this server's signers, or by those that the reader names: then it
 * is the reader's trust alone, and what this server knows does not matter.
 */
export async function judgeGiven(
  deps: Pick<
    Deps,
    | ('askChain' | 'clock' | 'logs' | 'receipts' | 'shard' | 'signers' | 'witnesses')
    | ('upstreams' | 'upstreamEvidence')
  >,
  { file, problems }: GivenFile,
  { signers, beside }: Reader,
): Promise<Judgement> {
  const { policy, quote, attested } = beside
  const isOwn = signers.length === 0 && policy.signers === undefined
  const keys = isOwn && attested ? await upstreamTrust(deps, file) : {}
  const own = isOwn ? { ...(await trustIn(deps, file)), ...keys } : {}
  const trust = trustWith(own, policy, signers)
  const input = { file, quote, attested, problems: [...problems, ...beside.problems] }
  return judge(deps, input, trust, policy.chain)
}

type Input = VerifyInput & { file: ReceiptFile }

async function judge(
  deps: Pick<Deps, 'askChain' | 'clock'>,
  input: Input,
  trust: Trust,
  demand: VerifyOptions['chain'] = 'auto',
): Promise<Judgement> {
  const { file } = input
  const now = deps.clock.now()
  let chain: ChainEvidence | undefined
  let witnessed: WitnessVerdict | undefined
  const judgeWitnesses = trust.witnesses
  const noting: Trust = {
    ...trust,
    ...(judgeWitnesses && {
      witnesses: (...asked) => {
        witnessed = judgeWitnesses(...asked)
        return witnessed
      },
    }),
  }
  const verdict = await verifyWithChain(input, noting, { chain: demand }, async (claim) => {
    const said = await soonEnough(deps.askChain(claim))
    // A browser may not ask the chain itself: it must say who did.
    chain = said?.status === 'read' ? { ...said, note: 'This service asked the chain.' } : said
    return chain
  })
  return {
    file,
    verdict,
    payload: toPagePayload(file, chain ? { ...trust, chain } : trust, now, witnessed),
    now,
  }
}

const late: ChainEvidence = {
  status: 'unavailable',
  reason: 'The chain has not answered yet. Check again.',
}

function soonEnough(asked: Promise<ChainEvidence | undefined>): Promise<ChainEvidence | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, patienceMs, late)
    asked.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
