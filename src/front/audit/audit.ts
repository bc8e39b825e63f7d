import { ChainUnavailable } from '../../kernel/chain.ts'
import { NoRegistry } from '../../proof/anchors/registry.ts'
import { fail, type Outcome, skip, unavailable } from '../../verify/checks.ts'
import type { Checkpoint } from '../../verify/proof.ts'
import { readAnchors, readSigners, WrongAnswer } from './answers.ts'
import {
  checkCount,
  checkFinal,
  checkRoots,
  checkSignersThere,
  type OnChain,
} from './check-chain.ts'
import { checkAnchors, checkCheckpoint, checkNeighbours, checkRemembered } from './check-log.ts'
import { checkRanges, checkRotations } from './check-signers.ts'
import { type Service, ServiceTrouble, type Told } from './service-view.ts'

/** In the order in which they are told. */
export const auditChecks = [
  'signers',
  'rotations',
  'checkpoint',
  'anchors',
  'consistency',
  'remembered',
  'chain_roots',
  'chain_final',
  'chain_count',
  'chain_signers',
] as const

export type AuditCheckName = (typeof auditChecks)[number]
export type AuditCheck = { name: AuditCheckName } & Outcome

export type AuditReport = {
  /** Whether nothing fails and everything that was asked could be checked. */
  holds: boolean
  origin: string | null
  /** Leaves under the latest checkpoint. */
  size: string | null
  /** Heads of the log that the service says are on the chain. */
  anchors: number
  checks: AuditCheck[]
  /** What to remember: the next audit shows whether the log still begins with it. */
  checkpoint: Checkpoint | null
}

export type AuditOptions = {
  service: Service
  /** The chain and the registry to ask; never taken from the service. */
  chain?: OnChain
  /** The checkpoint of an earlier audit. */
  remembered?: Checkpoint
}

/** Checks all that a service says of its log, as a stranger can. Never throws for what it finds. */
export async function auditService(options: AuditOptions): Promise<AuditReport> {
  const { service, chain, remembered } = options
  let told: Told
  try {
    told = await readAll(service)
  } catch (error) {
    return unread(outcomeOf(error))
  }
  const notAsked = skip('The chain was not asked: name --rpc and --registry.')
  const outcomes: Record<AuditCheckName, Outcome> = {
    signers: checkRanges(told),
    rotations: checkRotations(told),
    checkpoint: checkCheckpoint(told),
    anchors: checkAnchors(told),
    consistency: await attempt(() => checkNeighbours(service, told)),
    remembered: remembered
      ? await attempt(() => checkRemembered(service, told, remembered))
      : skip('No earlier audit was given to compare with: --state remembers this one.'),
    chain_roots: chain ? await attempt(() => checkRoots(chain, told)) : notAsked,
    chain_final: chain ? await attempt(() => checkFinal(chain, told)) : notAsked,
    chain_count: chain ? await attempt(() => checkCount(chain, told)) : notAsked,
    chain_signers: chain ? await attempt(() => checkSignersThere(chain, told)) : notAsked,
  }
  const checks = auditChecks.map((name): AuditCheck => ({ name, ...outcomes[name] }))
  return {
    holds: checks.every(({ status }) => status === 'pass' || status === 'skip'),
    origin: told.origin,
    size: told.checkpoint?.size ?? null,
    anchors: told.anchors.length,
    checks,
    checkpoint: told.checkpoint ?? null,
  }
}

const list = '/v1/anchors?limit=100'

/** @throws ServiceTrouble, WrongAnswer */
async function readAll(service: Service): Promise<Told> {
  const { issuer, signers } = readSigners(await service.get('/v1/signer'))
  const first = readAnchors(await service.get(list))
  if (first.origin !== issuer) {
    throw new WrongAnswer(`The log is of ${first.origin}, but the signer is of ${issuer}.`)
  }
  const anchors = [...first.anchors]
  for (let page = first; page.hasMore; ) {
    const { lastId } = page
    const after = encodeURIComponent(lastId ?? '')
    page = readAnchors(await service.get(`${list}&after=${after}`))
    // Sizes fall from page to page: a list that does not end is no list.
    const [last, next] = [anchors.at(-1), page.anchors[0]]
    if (!last || !next || next.size > last.size || page.lastId === lastId) {
      throw new WrongAnswer('The pages of the list of anchors do not follow each other.')
    }
    anchors.push(...page.anchors)
  }
  const onChain = anchors.filter(({ status }) => status === 'confirmed' || status === 'final')
  const { checkpoint, owner } = first
  return { origin: issuer, checkpoint, owner, anchors: onChain.reverse(), signers }
}

/** What cannot be asked is unavailable, what is no answer fails. */
async function attempt(check: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await check()
  } catch (error) {
    return outcomeOf(error)
  }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof WrongAnswer) return fail(error.message)
  if (error instanceof ServiceTrouble) return unavailable(error.message)
  if (error instanceof ChainUnavailable || error instanceof NoRegistry) {
    return unavailable(`The chain was asked and does not say: ${error.message}.`)
  }
  throw error
}

/** A service that could not be read at all. */
function unread(outcome: Outcome): AuditReport {
  const rest = skip('The service could not be read.')
  const checks = auditChecks.map((name, i): AuditCheck => ({ name, ...(i === 0 ? outcome : rest) }))
  return { holds: false, origin: null, size: null, anchors: 0, checks, checkpoint: null }
}
