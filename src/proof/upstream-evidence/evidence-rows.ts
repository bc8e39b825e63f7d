/** Stores the exchange of a run with an upstream that signs its answers. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { definePart } from '../../ledger/part.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { SignedExchange } from '../../models/upstream/signed-exchange.ts'
import type { EndedRun, UpstreamEvidenceRow } from '../../storage/db/schema/schema.ts'
import { insert } from '../../storage/db/sql/query-steps.ts'
import type { AnsweredRow } from './store.ts'

/** How long the last bytes of an answer may take before their hash counts as lost, in ms. */
const lostMs = 60_000

const evidenceRows = definePart({
  name: 'exchanges',
  rank: 65,
  empty: (): UpstreamEvidenceRow[] => [],
  write: ({ tables }, rows) => insert(tables.upstreamEvidence, rows),
  kept: (rows) => rows,
})

/** Stores an exchange with the end of its run, unless the answer broke off. */
export function addEvidenceRow(unit: UnitOfWork, run: EndedRun, exchange: SignedExchange): void {
  const row = evidenceRow(run, exchange)
  if (row) unit.part(evidenceRows).push(row)
}

/** The row of an exchange, to store with the end of its run; undefined if the answer broke off. */
export function evidenceRow(
  { id, outcome, finishedAt }: Pick<EndedRun, 'id' | 'outcome' | 'finishedAt'>,
  { upstream, model, scheme, requestHash, answer }: SignedExchange,
): UpstreamEvidenceRow | undefined {
  if (outcome !== 'complete') return undefined
  const waiting = { state: 'waiting', reason: null, answerHash: null, answerId: null } as const
  return {
    runId: id,
    ...{ upstream, model, scheme, requestHash },
    ...(answer ? answeredRow(answer, finishedAt) : { ...waiting, dueAt: finishedAt + lostMs }),
    tries: 0,
    endedAt: finishedAt,
    ...{ document: null, key: null, checkedAt: null, salt: null, digest: null, logPlace: null },
  }
}

/** The columns of an answer that is over. */
export function answeredRow(answer: SignedExchange['answer'], now: Millis): AnsweredRow {
  const found = { answerHash: answer?.hash ?? null, answerId: answer?.id ?? null }
  if (answer?.id !== undefined) return { ...found, state: 'waiting', reason: null, dueAt: now }
  const reason = answer ? ('no_id' as const) : ('not_whole' as const)
  return { ...found, state: 'none', reason, dueAt: null }
}

/**
 * Stores the hash of an answer whose last bytes came after its run ended: the end of a stream.
 * Never rejects.
 */
export async function noteAnswer(
  { upstreamEvidence, clock, log }: Pick<Deps, 'upstreamEvidence' | 'clock' | 'log'>,
  runId: string,
  exchange: SignedExchange,
): Promise<void> {
  await exchange.over
  try {
    await upstreamEvidence.noteAnswer(runId, answeredRow(exchange.answer, clock.now()))
  } catch (error) {
    log.error('upstream_evidence.note_failed', error, { run_id: runId })
  }
}
