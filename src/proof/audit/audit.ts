/** Audits a service's whole log from outside, and against the chain if asked. */
import { ChainUnavailable } from '../../kernel/chain.ts'
import type { WitnessPolicy } from '../../verify/check-witnesses.ts'
import {
  fail,
  type Outcome,
  skip,
  type TrustedSigner,
  told,
  unavailable,
} from '../../verify/checks.ts'
import type { Checkpoint } from '../../verify/proof.ts'
import type { ReadFile } from '../../verify/read-tiles.ts'
import type { NoteKey } from '../../verify/signed-note.ts'
import { NoRegistry } from '../anchors/registry.ts'
import { readAnchors, readSigners, WrongAnswer } from './answers.ts'
import { auditTiles, type TileAudit, type TileCheckName, tileChecks } from './audit-tiles.ts'
import {
  checkCount,
  checkFinal,
  checkRoots,
  checkSignersThere,
  type OnChain,
} from './check-chain.ts'
import {
  checkAnchors,
  checkCheckpoint,
  checkNeighbours,
  checkRemembered,
  trustedSigners,
} from './check-log.ts'
import { checkRanges, checkRotations } from './check-signers.ts'
import {
  checkHoldings,
  checkStatements,
  readStatements,
  type StatementSchedule,
} from './check-statements.ts'
import type { Paper } from './papers.ts'
import { type KnownHead, type Service, ServiceTrouble, type ServiceView } from './service-view.ts'

/** In report order. */
export const auditChecks = [
  'signers',
  'rotations',
  'checkpoint',
  'anchors',
  'consistency',
  'remembered',
  'liabilities',
  'chain_roots',
  'chain_final',
  'chain_count',
  'chain_signers',
  'chain_holdings',
] as const

export type AuditCheckName = (typeof auditChecks)[number] | TileCheckName
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
  /** How often the service must publish its liabilities; not asked without it. */
  owedEvery?: StatementSchedule
  /** How to read the files of the log; without them only the API is audited. */
  files?: FileOptions
}

/** The files of a log, and what the auditor knows of it. */
export type FileOptions = {
  /** Opens those of the log with this path at its service. */
  open(prefix: string): ReadFile
  /** Note keys of the log that the auditor knows; in place of those that the service names. */
  keys: readonly NoteKey[]
  witnesses?: WitnessPolicy
  papers: readonly Paper[]
  /** In place of the signers that the service names. */
  signers?: readonly TrustedSigner[]
  /** The origin that the log has to have. */
  origin?: string
}

/** Checks every claim of a service about its log. Failures go into the report, not into errors. */
export async function auditService(options: AuditOptions): Promise<AuditReport> {
  const { service, chain, remembered, owedEvery } = options
  let view: ServiceView
  try {
    view = await readAll(service)
  } catch (error) {
    return unread(outcomeOf(error))
  }
  const notAsked = skip('The chain was not checked: add --rpc and --registry.')
  const checked = await auditLiabilities({ service, view, owedEvery }, chain)
  const outcomes: Record<(typeof auditChecks)[number], Outcome> = {
    signers: checkRanges(view),
    rotations: checkRotations(view),
    checkpoint: checkCheckpoint(view),
    anchors: checkAnchors(view),
    consistency: await attempt(() => checkNeighbours(service, view)),
    remembered: remembered
      ? await attempt(() => checkRemembered(service, view, remembered))
      : skip('No earlier audit to compare with: --state saves this one.'),
    liabilities: checked.statements,
    chain_roots: chain ? await attempt(() => checkRoots(chain, view)) : notAsked,
    chain_final: chain ? await attempt(() => checkFinal(chain, view)) : notAsked,
    chain_count: chain ? await attempt(() => checkCount(chain, view)) : notAsked,
    chain_signers: chain ? await attempt(() => checkSignersThere(chain, view)) : notAsked,
    chain_holdings: checked.holdings ?? notAsked,
  }
  const checks: AuditCheck[] = auditChecks.map((name) => ({ name, ...outcomes[name] }))
  if (options.files) checks.push(...(await fileChecks(options, options.files, view)))
  return {
    holds: checks.every(isFine),
    origin: view.origin,
    size: view.checkpoint?.size ?? null,
    anchors: view.anchors.length,
    checks,
    checkpoint: view.checkpoint ?? null,
  }
}

/** Audits a log from its files alone, which may come from anywhere. */
export async function auditFiles(
  files: Omit<FileOptions, 'open'> & { read: ReadFile },
  chain: OnChain | undefined,
): Promise<AuditReport> {
  const { read, keys, witnesses, papers, signers, origin } = files
  const audit: TileAudit = {
    ...{ read, papers, heads: [], keys: { list: keys, whose: '--log-key' } },
    ...(witnesses && { witnesses }),
    ...(origin !== undefined && { origin }),
    ...(chain && ownedBy(chain, undefined)),
    trust: { ...(signers && { signers }) },
  }
  const { head, outcomes } = await auditTiles(audit, attempt)
  const checks = tileChecks.map((name): AuditCheck => ({ name, ...outcomes[name] }))
  return {
    holds: checks.every(isFine),
    origin: head?.origin ?? null,
    size: head === null ? null : String(head.size),
    anchors: 0,
    checks,
    checkpoint: null,
  }
}

/** The checks of the files of a log, against what its service says of it. */
async function fileChecks(
  { service, chain, remembered }: AuditOptions,
  { open, keys, witnesses, papers, signers, origin }: FileOptions,
  view: ServiceView,
): Promise<AuditCheck[]> {
  if (view.prefix === undefined) {
    const reason = 'The service does not name the path of its log (log.prefix of GET /v1/signer).'
    const missing = unavailable(`${reason} Ask the operator to upgrade it.`)
    return tileChecks.map((name): AuditCheck => ({ name, ...missing }))
  }
  const heads = [
    ...headIn('the signed checkpoint', view.checkpoint),
    ...headIn('the checkpoint of the earlier audit', remembered),
    ...view.anchors.map(({ id, size, root }) => ({ what: `the anchor ${told(id)}`, size, root })),
  ]
  const own = { list: keys, whose: '--log-key' }
  const audit: TileAudit = {
    ...{ read: open(view.prefix), service, papers, heads, origin: origin ?? view.origin },
    keys: keys.length > 0 ? own : { list: view.noteKeys, whose: 'the service itself' },
    ...(witnesses && { witnesses }),
    ...(chain && ownedBy(chain, view.owner)),
    trust: { signers: signers ?? trustedSigners(view) },
  }
  const { outcomes } = await auditTiles(audit, attempt)
  return tileChecks.map((name): AuditCheck => ({ name, ...outcomes[name] }))
}

/** Adds the owner of the log to the registry; returns nothing where it is unknown. */
const ownedBy = (chain: OnChain, claimed: string | undefined) => {
  const owner = chain.owner ?? claimed
  return owner === undefined ? {} : { chain: { ...chain, owner } }
}

const headIn = (what: string, head: Checkpoint | undefined): KnownHead[] =>
  head ? [{ what, size: Number(head.size), root: head.root }] : []

const isFine = ({ status }: Outcome): boolean => status === 'pass' || status === 'skip'

type StatementDemand = { view: ServiceView; owedEvery: StatementSchedule | undefined }

/** Checks the statements of debts, and the treasury if a chain was named. */
async function auditLiabilities(
  { service, view, owedEvery }: Pick<AuditOptions, 'service'> & StatementDemand,
  on: OnChain | undefined,
) {
  try {
    const statements = await readStatements(service)
    return {
      statements: await attempt(() => checkStatements(service, view, statements, owedEvery)),
      holdings: on && (await attempt(() => checkHoldings(on.chain, statements))),
    }
  } catch (error) {
    const outcome = outcomeOf(error)
    return { statements: outcome, holdings: on && skip('The liabilities could not be read.') }
  }
}

const list = '/v1/anchors?limit=100'

/** @throws ServiceTrouble, WrongAnswer */
async function readAll(service: Service): Promise<ServiceView> {
  const { issuer, ...named } = readSigners(await service.get('/v1/signer'))
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
  return { ...named, origin: issuer, checkpoint, owner, anchors: onChain.reverse() }
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
