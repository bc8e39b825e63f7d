/** Erases the evidence of a run, whose plain hashes could confirm a guess of a text. */
import { eq } from 'drizzle-orm'
import type { Tables } from '../../../storage/db/schema/schema.ts'
import { lockFound, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'

/** Deletes all that a guess could be compared with. The digest of the leaf stays: it is salted. */
export function* forgetEvidence(
  q: Query,
  { upstreamEvidence: table }: Pick<Tables, 'upstreamEvidence'>,
  runId: string,
): Work<void> {
  const [found] = yield* lockFound(table, { runId: [runId] })
  if (!found) return
  const erased = { state: found.state === 'waiting' ? ('none' as const) : found.state }
  const gone = { requestHash: null, answerHash: null, answerId: null, document: null, salt: null }
  const set = { ...gone, ...erased, reason: 'erased' as const, dueAt: null }
  yield* rows(
    q.update(table).set(set).where(eq(table.runId, runId)).returning({ runId: table.runId }),
  )
}
