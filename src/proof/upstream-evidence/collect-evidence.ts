/** Asks upstreams for the evidence of ended runs in the background, checks it and logs it. */
import type { Deps } from '../../app/deps-port.ts'
import { LostLease } from '../../kernel/lost-lease.ts'
import type { EvidenceSource } from '../../models/upstream/signed-exchange.ts'
import type { EvidenceReason } from '../../storage/db/schema/schema.ts'
import { schemeOf, spellKey } from '../../verify/evidence-schemes.ts'
import { evidenceDigest } from '../../verify/upstream-evidence.ts'
import { statementOf } from './known-evidence.ts'
import type { DueEvidence, EvidenceAttempt, LoggedEvidence } from './store.ts'

export type CollectorDeps = Pick<
  Deps,
  | ('upstreamEvidence' | 'upstreams' | 'clock' | 'heads' | 'log' | 'logs' | 'logStore')
  | ('meters' | 'random' | 'sequencer')
>

/** Upstreams asked at once; each answers within five seconds. */
const atOnce = 16
/** Runs looked at in one pass. */
const passMax = 64
/** The first pause before an upstream is asked again, and the longest, in ms. */
const pauseMs = { first: 1000, last: 300_000 }
/** How long after the end of a run its upstream is asked, in ms. */
const askedForMs = 1_800_000

/** The result of a try. */
type Attempt = { logged: LoggedEvidence } | { noted: EvidenceAttempt }

/** A job that looks at the runs that are due; it rests while no upstream signs its answers. */
export function evidenceCollector(deps: CollectorDeps): (ending: AbortSignal) => Promise<void> {
  const { upstreamEvidence: store, upstreams, clock } = deps
  /** An earlier process or another configuration may have left some. */
  let mayHaveSome = true
  return async (ending) => {
    const isNeeded = mayHaveSome || upstreams.list().some(({ evidence }) => evidence)
    if (!isNeeded || !deps.heads.isOpen()) return
    const now = clock.now()
    const due = await store.due(now, passMax)
    mayHaveSome = due.length > 0 || (await store.waiting()) > 0
    if (due.length === 0 || !(await hasBegun(deps))) return
    try {
      await collect(deps, due, ending)
    } catch (error) {
      // The node that took the lease goes on.
      if (!(error instanceof LostLease)) throw error
    }
  }
}

/**
 * Whether the log has a leaf. On PostgreSQL two transactions that both add the first one would
 * collide; receipts go before their evidence.
 */
async function hasBegun({ logStore, sequencer }: CollectorDeps): Promise<boolean> {
  if ((await logStore.size()) > 0) return true
  await sequencer.flush()
  return (await logStore.size()) > 0
}

async function collect(
  deps: CollectorDeps,
  due: DueEvidence[],
  ending: AbortSignal,
): Promise<void> {
  const { upstreamEvidence: store } = deps
  for (let from = 0; from < due.length && !ending.aborted; from += atOnce) {
    if (!(await store.takeLease())) return
    const some = due.slice(from, from + atOnce)
    const tried = await Promise.all(some.map((row) => tryOne(deps, row, ending)))
    if (ending.aborted) return
    const lease = await store.takeLease()
    if (!lease) return
    const logged = tried.flatMap((one) => ('logged' in one ? [one.logged] : []))
    const noted = tried.flatMap((one) => ('noted' in one ? [one.noted] : []))
    if (noted.length > 0) await store.note(lease, noted)
    if (logged.length > 0) await store.add(lease, logged)
    for (const [i, { upstream }] of some.entries()) tell(deps, upstream, tried[i])
  }
}

/** Asks for one run, without writing anything. Never rejects. */
async function tryOne(
  deps: CollectorDeps,
  row: DueEvidence,
  ending: AbortSignal,
): Promise<Attempt> {
  const { upstreams, clock, logs } = deps
  const source = upstreams.get(row.upstream)?.evidence
  const { requestHash, answerHash, answerId: id, model } = row
  if (!answerHash || !requestHash || id === null) return gaveUp(row, 'lost')
  if (row.issuer !== logs.current.origin) return gaveUp(row, 'reopened')
  if (!source || source.scheme !== row.scheme) return gaveUp(row, 'unconfigured')
  if (clock.now() - row.endedAt > askedForMs) return gaveUp(row, row.reason ?? 'unreachable')
  const found = await source.ask({ id, model }, ending)
  if ('why' in found) return found.isFinal ? refused(row, found.why) : again(deps, row, found.why)
  return judge(deps, row, source, found.document)
}

/** Checks a document against the exchange and the keys of the configuration. */
function judge(
  { clock, random }: CollectorDeps,
  row: DueEvidence,
  source: EvidenceSource,
  document: string,
): Attempt {
  const { runId, requestHash, answerHash, model, issuer, receiptDigest } = row
  const exchanged = { request: hexOf(requestHash), answer: hexOf(answerHash), model }
  const signed = schemeOf(source.scheme)?.check(document, exchanged)
  if (!signed?.ok) return refused(row, signed?.why ?? 'unreadable')
  const { key } = signed
  if (!source.keys.some((one) => spellKey(one) === spellKey(key))) {
    return refused(row, 'unknown_key')
  }
  const checked = { runId, document, key, checkedAt: clock.now(), salt: random.bytes(32) }
  const statement = statementOf({ ...row, ...checked }, { issuer, digest: receiptDigest })
  if (!statement) throw new Error(`the evidence of ${runId} lacks a part`)
  return { logged: { ...checked, digest: evidenceDigest(statement) } }
}

const hexOf = (bytes: Uint8Array | null): string => Buffer.from(bytes ?? []).toString('hex')

const ended = (
  { runId, tries }: DueEvidence,
  state: 'refused' | 'none',
  reason: EvidenceReason,
): Attempt => ({ noted: { runId, state, reason, tries: tries + 1, dueAt: null } })

const refused = (row: DueEvidence, reason: EvidenceReason): Attempt => ended(row, 'refused', reason)
const gaveUp = (row: DueEvidence, reason: EvidenceReason): Attempt => ended(row, 'none', reason)

function again({ clock }: CollectorDeps, row: DueEvidence, reason: EvidenceReason): Attempt {
  const { runId, tries } = row
  const pause = Math.min(pauseMs.first * 2 ** tries, pauseMs.last)
  const dueAt = clock.now() + pause
  return { noted: { runId, state: 'waiting', reason, tries: tries + 1, dueAt } }
}

/** Counts the result of a run, and tells the operator of evidence that does not hold. */
function tell({ log, meters }: CollectorDeps, upstream: string, tried: Attempt | undefined): void {
  if (!tried) return
  const state = 'logged' in tried ? 'attested' : tried.noted.state
  if (state === 'waiting') return
  meters.evidenceEnded(upstream, state)
  if (!('noted' in tried) || state !== 'refused') return
  const { runId, reason } = tried.noted
  log.warn('upstream_evidence.refused', { upstream, run_id: runId, reason })
}
