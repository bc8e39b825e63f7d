/** Audits a service's whole log from outside, and against the chain if asked. */
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
import { type Service, ServiceTrouble, type ServiceView } from './service-view.ts'

/** In report order. */
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
  /** Whether no check failed and every requested check could run. */
  holds: boolean
  origin: string | null
  /** Leaves under the latest checkpoint. */
  size: string | null
  /** Number of heads that the service claims are on the chain. */
  anchors: number
  checks: AuditCheck[]
  /** Save it: the next audit checks that the log still begins with it. */
  checkpoint: Checkpoint | null
}

export type AuditOptions = {
  service: Service
  /** The chain and registry to check against; never taken from the service. */
  chain?: OnChain
  /** The checkpoint of an earlier audit. */
  remembered?: Checkpoint
}

/** Checks every claim of a service about its log. Failures go into the report, not into errors. */
export async function auditService(options: AuditOptions): Promise<AuditReport> {
  const { service, chain, remembered } = options
  let view: ServiceView
  try {
    view = await readAll(service)
  } catch (error) {
    return unread(outcomeOf(error))
  }
  const notAsked = skip('The chain was not checked: add --rpc and --registry.')
  const outcomes: Record<AuditCheckName, Outcome> = {
    signers: checkRanges(view),
    rotations: checkRotations(view),
    checkpoint: checkCheckpoint(view),
    anchors: checkAnchors(view),
    consistency: await attempt(() => checkNeighbours(service, view)),
    remembered: remembered
      ? await attempt(() => checkRemembered(service, view, remembered))
      : skip('No earlier audit to compare with: --state saves this one.'),
    chain_roots: chain ? await attempt(() => checkRoots(chain, view)) : notAsked,
    chain_final: chain ? await attempt(() => checkFinal(chain, view)) : notAsked,
    chain_count: chain ? await attempt(() => checkCount(chain, view)) : notAsked,
    chain_signers: chain ? await attempt(() => checkSignersThere(chain, view)) : notAsked,
  }
  const checks = auditChecks.map((name): AuditCheck => ({ name, ...outcomes[name] }))
  return {
    holds: checks.every(({ status }) => status === 'pass' || status === 'skip'),
    origin: view.origin,
    size: view.checkpoint?.size ?? null,
    anchors: view.anchors.length,
    checks,
    checkpoint: view.checkpoint ?? null,
  }
}

const list = '/v1/anchors?limit=100'

/** @throws ServiceTrouble, WrongAnswer */
async function readAll(service: Service): Promise<ServiceView> {
  const { issuer, signers } = readSigners(await service.get('/v1/signer'))
  const first = readAnchors(await service.get(list))
  if (first.origin !== issuer) {
    throw new WrongAnswer(`The log belongs to ${first.origin}, but the signer to ${issuer}.`)
  }
  const anchors = [...first.anchors]
  for (let page = first; page.hasMore; ) {
    const { lastId } = page
    const after = encodeURIComponent(lastId ?? '')
    page = readAnchors(await service.get(`${list}&after=${after}`))
    // Sizes must fall from page to page, which also bounds the number of pages.
    const [last, next] = [anchors.at(-1), page.anchors[0]]
    if (!last || !next || next.size > last.size || page.lastId === lastId) {
      throw new WrongAnswer('The pages of the anchor list are inconsistent.')
    }
    anchors.push(...page.anchors)
  }
  const onChain = anchors.filter(({ status }) => status === 'confirmed' || status === 'final')
  const { checkpoint, owner } = first
  return { origin: issuer, checkpoint, owner, anchors: onChain.reverse(), signers }
}

/** Turns a wrong response into a failure, and an unreachable server into "unavailable". */
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
    return unavailable(`The chain could not be read: ${error.message}.`)
  }
  throw error
}

/** The report of a service that could not be read. */
function unread(outcome: Outcome): AuditReport {
  const rest = skip('The service could not be read.')
  const checks = auditChecks.map((name, i): AuditCheck => ({ name, ...(i === 0 ? outcome : rest) }))
  return { holds: false, origin: null, size: null, anchors: 0, checks, checkpoint: null }
}
