/** Stores who may see which receipt, and erases texts; receipts' public figures follow. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { runColumns } from '../../../storage/db/schema/run-columns.ts'
import type { AuditRow, EndedRun, ShareRow } from '../../../storage/db/schema/schema.ts'
import {
  first,
  insert,
  lockedRows,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { moveFigures } from '../../../storage/figures/store.ts'
import { forgetReply } from '../../../storage/idempotency/store.ts'
import type { NewEvent } from '../../../storage/outbox/event.ts'
import { addEvents } from '../../../storage/outbox/store.ts'
import { forgetItems } from '../../../storage/responses/store.ts'
import { forgetTexts } from '../../../storage/texts/store.ts'
import type { FullReceipt } from '../../../verify/receipt.ts'
import { movePublicReceipt } from '../../passports/store/public.ts'
import { forgetEvidence } from '../../upstream-evidence/store/forget-evidence.ts'
import { isErased, receiptIdOf, runIdOf } from '../receipt.ts'

export type ShareStore = {
  find(receiptId: string): Promise<ShareRow | undefined>
  /** The visibility of those of an account's receipts that are not private. */
  visibilities(
    accountId: string,
    receiptIds: string[],
  ): Promise<Map<string, ShareRow['visibility']>>
  /** Locks a receipt and stores the share that `decide` returns, with its audit row. */
  change(receiptId: string, decide: (held: ShareState) => Change): Promise<ShareRow | undefined>
  /**
   * Deletes the seed and texts of a receipt and stores the receipt itself, with the share that
   * `decide` returns. Returns when it was first erased; erasing again changes nothing.
   */
  erase(
    erased: { receiptId: string; receipt: FullReceipt; at: Millis },
    decide: (held: ShareState) => Change,
  ): Promise<Millis>
}

/** The state that a decision is based on. */
export type ShareState = { isErased: boolean; share: ShareRow | undefined }

/** The new share, or none; without an audit row nothing changes. */
export type Change = { share: ShareRow | undefined; audit: AuditRow | undefined }

export function shareStore(db: Db): ShareStore {
  const { runs, shares, erasedReceipts, auditEntries } = db.tables

  /** Locks a receipt: of two changes at once the later one sees what the earlier left. */
  function* hold(q: Query, receiptId: string): Work<ShareState & { run: EndedRun }> {
    const named = q
      .select(runColumns(db))
      .from(runs)
      .where(eq(runs.id, runIdOf(receiptId)))
    const [run] = yield* lockedRows(named)
    if (!run) throw new Error(`${receiptId} has no run`)
    const share = yield* first(q.select().from(shares).where(eq(shares.receiptId, receiptId)))
    return { run, isErased: isErased(run), share }
  }

  /** Every change of a share goes through here: what is summed up of public receipts follows. */
  function* write(
    q: Query,
    { run, share: from }: ShareState & { run: EndedRun },
    to: ShareRow | undefined,
  ): Work<void> {
    const receiptId = receiptIdOf(run.id)
    yield* rows(q.delete(shares).where(eq(shares.receiptId, receiptId)).returning(noTexts))
    if (to) yield* insert(shares, [to])
    yield* moveFigures(q, db.tables, { run, from, to })
    yield* movePublicReceipt(q, db.tables, { run, from, to })
  }
  // The delete returns the id alone: a revealed text may have megabytes.
  const noTexts = { receiptId: shares.receiptId }

  return {
    find: (receiptId) =>
      db.read((q) => first(q.select().from(shares).where(eq(shares.receiptId, receiptId)))),
    visibilities: async (accountId, receiptIds) => {
      if (receiptIds.length === 0) return new Map()
      const found = await db.read((q) => {
        const named = and(eq(shares.accountId, accountId), inArray(shares.receiptId, receiptIds))
        const shown = { id: shares.receiptId, visibility: shares.visibility }
        return rows(q.select(shown).from(shares).where(named))
      })
      return new Map(found.map(({ id, visibility }) => [id, visibility]))
    },
    change: (receiptId, decide) =>
      db.write(function* (q) {
        const held = yield* hold(q, receiptId)
        const { share, audit } = decide(held)
        if (!audit) return held.share
        yield* write(q, held, share)
        yield* insert(auditEntries, [audit])
        if (share && share.visibility !== held.share?.visibility) {
          yield* addEvents(db.tables, [sharedEvent(share)], audit.at)
        }
        return share
      }),
    erase: ({ receiptId, receipt, at }, decide) =>
      db.write(function* (q) {
        const held = yield* hold(q, receiptId)
        const { share, audit } = decide(held)
        if (!audit) {
          const named = eq(erasedReceipts.receiptId, receiptId)
          const before = yield* first(q.select().from(erasedReceipts).where(named))
          return before?.erasedAt ?? at
        }
        const id = runIdOf(receiptId)
        yield* insert(erasedReceipts, [{ receiptId, receipt, erasedAt: at }])
        const emptied: Partial<EndedRun> = {
          id,
          seed: new Uint8Array(),
          output: null,
          outputUntil: null,
        }
        yield* update(runs, [emptied], ['seed', 'output', 'outputUntil'])
        yield* forgetTexts(q, db.tables, [id])
        yield* forgetEvidence(q, db.tables, id)
        yield* forgetReply(q, db.tables, id)
        yield* forgetItems(q, db.tables, [id])
        if (held.share) yield* write(q, held, share)
        yield* insert(auditEntries, [audit])
        return at
      }),
  }
}

const sharedEvent = ({ receiptId, accountId, visibility, sections }: ShareRow): NewEvent => ({
  type: 'receipt.shared',
  account: accountId,
  subject: receiptId,
  data: { receipt_id: receiptId, run_id: runIdOf(receiptId), visibility, sections },
})
