/** Judges a receipt with the chain's data, which is asked for only when it can matter. */
import { LRUCache } from 'lru-cache'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import { type AnchorClaim, type ChainEvidence, registryLogId } from '../../verify/check-anchor.ts'
import type { Proof } from '../../verify/proof.ts'
import { isObject } from '../../verify/receipt.ts'
import {
  type Trust,
  type Verdict,
  type VerifyInput,
  type VerifyOptions,
  verifyReceipt,
} from '../../verify/verify.ts'
import type { Anchoring } from '../anchors/anchoring.ts'
import { NoRegistry, readEvidence } from '../anchors/registry.ts'

/** Asks a trusted chain about a receipt's place; undefined without a chain. */
export type AskChain = (claim: AnchorClaim) => Promise<ChainEvidence | undefined>

/**
 * Asks the chain only if every other check passes and the proof puts the receipt in the log: a
 * worthless file causes no requests.
 */
export async function verifyWithChain(
  input: VerifyInput,
  trust: Trust,
  options: VerifyOptions,
  ask: AskChain,
): Promise<Verdict> {
  const first = verifyReceipt(input, trust, options)
  const isFine = first.checks.every(({ status }) => status !== 'fail')
  const isProven = first.checks.some((check) => check.name === 'inclusion' && isPass(check))
  if (options.chain === 'skip' || !isFine || !isProven) return first
  const chain = await ask({ proof: proofOf(input), signer: first.signer })
  return chain ? verifyReceipt(input, { ...trust, chain }, options) : first
}

/** How long a question to this server may wait for the chain, in ms. */
const patienceMs = 5000
/** How long an answer of the chain is cached, in ms; repeated questions do not reach the chain. */
const freshMs = 2000

/**
 * How this server asks its own chain, registry and owner, never those that a file names. Answers
 * are remembered for a moment, so that no crowd with a good receipt can make us ask for each.
 */
export function askOwnChain(anchoring: Pick<Anchoring, 'chain' | 'placeOf'>): AskChain {
  const { chain } = anchoring
  const answers = new LRUCache<string, Promise<ChainEvidence>>({ max: 1000, ttl: freshMs })
  return async (claim) => {
    const { checkpoint, index } = claim.proof
    const place = await anchoring.placeOf(checkpoint.issuer)
    if (!chain || !place) return undefined
    const { registry, owner } = place
    const question = [place.id, checkpoint.size, index, claim.signer].join()
    const known = answers.get(question)
    if (known) return withinPatience(known)
    const asked = askRegistry({ chain, registry, owner }, claim)
    answers.set(question, asked)
    return withinPatience(asked)
  }
}

function withinPatience(asked: Promise<ChainEvidence>): Promise<ChainEvidence> {
  const reason = 'The chain did not answer in time.'
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, patienceMs, { status: 'unavailable', reason })
    asked.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The contract that is trusted for the anchors of a log, and a chain to ask it on. */
export type Registry = {
  chain: Pick<Chain, 'call'>
  /** The contract, never one that a file names. */
  registry: string
  owner: string
}

/** Reads the chain about a claim. A chain that does not answer is `unavailable`, not an error. */
export async function askRegistry(from: Registry, claim: AnchorClaim): Promise<ChainEvidence> {
  const { registry, owner } = from
  const { checkpoint, size, index } = claim.proof
  const origin = checkpoint.issuer
  const signer = claim.signer ?? zeroAddress
  const asked = { registry, owner, origin, size: BigInt(size), signer, index: BigInt(index) }
  try {
    const { latest, finalized, signerAllowed } = await readEvidence(from.chain, asked)
    const roots = { root: latest ?? null, finalRoot: finalized ?? null }
    const log = registryLogId(registry, owner, origin)
    return { status: 'read', registry, owner, log, size, ...roots, signerAllowed }
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof NoRegistry)) throw error
    const reason = `The chain did not answer: ${error.message}.`
    return { status: 'unavailable', reason }
  }
}

const zeroAddress = `0x${'0'.repeat(40)}`

const isPass = ({ status }: { status: string }): boolean => status === 'pass'

/** The proof of an input whose inclusion passed, so that it was read strictly. */
function proofOf({ file, proof }: VerifyInput): Proof {
  if (proof !== undefined && proof !== null) return proof as Proof
  return (isObject(file) ? file['proof'] : undefined) as Proof
}
