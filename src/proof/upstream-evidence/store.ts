/** Stores what upstreams signed of runs, and logs it. */
import { and, asc, count, eq, isNotNull, isNull, lte } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import {
  assertLease,
  type Lease,
  type LeaseTime,
  takeLease,
} from '../../storage/db/engine/lease.ts'
import type { UpstreamEvidenceRow } from '../../storage/db/schema/schema.ts'
import { first, lockFound, rows, update } from '../../storage/db/sql/query-steps.ts'
import { leafKinds } from '../../verify/merkle.ts'
import type { LogStore } from '../log/store.ts'

/** The columns of an answer that is over. */
export type AnsweredRow = Pick<
  UpstreamEvidenceRow,
  'answerHash' | 'answerId' | 'state' | 'reason' | 'dueAt'
>

/** A row that is looked at, with the digest of its receipt. */
export type DueEvidence = UpstreamEvidenceRow & { receiptDigest: Uint8Array; issuer: string }

/** Evidence that was checked: the columns of its leaf, without the place. */
export type LoggedEvidence = {
  runId: string
  document: string
  key: string
  checkedAt: Millis
  salt: Uint8Array
  digest: Uint8Array
}

/** A row whose upstream has to be asked again, or not any more. */
export type EvidenceAttempt = Pick<
  UpstreamEvidenceRow,
  'runId' | 'state' | 'reason' | 'tries' | 'dueAt'
>

export type UpstreamEvidenceStore = {
  takeLease(): Promise<Lease | undefined>
  /** Stores the answer of a run that ended before its last bytes came. */
  noteAnswer(runId: string, answer: AnsweredRow): Promise<void>
  /** The rows that are due, the one that waited longest first. */
  due(now: Millis, limit: number): Promise<DueEvidence[]>
  /** Makes evidence leaves of the log; what was erased meanwhile is left out. @throws LostLease */
  add(lease: Lease, logged: readonly LoggedEvidence[]): Promise<void>
  /** Notes tries that brought nothing; what was erased meanwhile stays so. @throws LostLease */
  note(lease: Lease, tried: readonly EvidenceAttempt[]): Promise<void>
  find(runId: string): Promise<UpstreamEvidenceRow | undefined>
  /** How many runs wait for evidence. */
  waiting(): Promise<number>
}

export function upstreamEvidenceStore(
  db: Db,
  log: LogStore,
  { clock, node }: { clock: LeaseTime; node: string },
): UpstreamEvidenceStore {
  const { upstreamEvidence: table, runs } = db.tables
  const isWaiting = ({ state }: UpstreamEvidenceRow): boolean => state === 'waiting'

  return {
    takeLease: () => takeLease(db, clock, 'upstream-evidence', node),
    noteAnswer: (runId, answer) =>
      db.write(function* (q) {
        const open = and(
          eq(table.runId, runId),
          eq(table.state, 'waiting'),
          isNull(table.answerHash),
        )
        yield* rows(q.update(table).set(answer).where(open).returning({ runId: table.runId }))
      }),
    due: (now, limit) =>
      db.read(function* (q) {
        const found = yield* rows(
          q
            .select({ row: table, receiptDigest: runs.digest, issuer: runs.issuer })
            .from(table)
            .innerJoin(runs, eq(runs.id, table.runId))
            .where(lte(table.dueAt, now))
            .orderBy(asc(table.dueAt))
            .limit(limit),
        )
        return found.flatMap(({ row, receiptDigest, issuer }) =>
          receiptDigest ? [{ ...row, receiptDigest, issuer }] : [],
        )
      }),
    add: (lease, logged) =>
      log.change(function* (_q, { append }) {
        yield* assertLease(db, lease, clock.now())
        const open = yield* lockFound(table, { runId: logged.map(({ runId }) => runId) })
        const waiting = new Set(open.filter(isWaiting).map(({ runId }) => runId))
        const kept = logged.filter(({ runId }) => waiting.has(runId))
        if (kept.length === 0) return
        const { place } = yield* append(() =>
          kept.map(({ digest }) => ({ kind: leafKinds.upstreamEvidence, digest })),
        )
        const done = { state: 'attested', reason: null, dueAt: null, answerId: null } as const
        const stored = kept.map((one, i) => ({ ...one, ...done, logPlace: place + i }))
        yield* update(table, stored, [
          ...(['document', 'key', 'checkedAt', 'salt', 'digest', 'logPlace'] as const),
          ...(['state', 'reason', 'dueAt', 'answerId'] as const),
        ])
      }),
    note: (lease, tried) =>
      db.write(function* () {
        yield* assertLease(db, lease, clock.now())
        const open = yield* lockFound(table, { runId: tried.map(({ runId }) => runId) })
        const waiting = new Set(open.filter(isWaiting).map(({ runId }) => runId))
        const kept = tried.filter(({ runId }) => waiting.has(runId))
        yield* update(table, kept, ['state', 'reason', 'tries', 'dueAt'])
      }),
    find: (runId) => db.read((q) => first(q.select().from(table).where(eq(table.runId, runId)))),
    waiting: () =>
      db.read(function* (q) {
        const open = q.select({ n: count() }).from(table).where(isNotNull(table.dueAt))
        return Number((yield* first(open))?.n ?? 0)
      }),
  }
}
