/** The receipts that show a passport publicly: their count and the newest of them. */
import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { EndedRun, PassportRow, ShareRow, Tables } from '../../../storage/db/schema/schema.ts'
import { first, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'

/** A receipt that everybody sees, with the sections of its run that its owner shows. */
export type PublicReceipt = {
  share: Pick<ShareRow, 'receiptId' | 'sections' | 'createdAt'>
  run: Pick<EndedRun, 'model' | 'kind' | 'outcome' | 'cost' | 'digest' | 'finishedAt'>
}

/** Receipts of an account that a list of public ones may pass over. */
const passedMax = 4000

/**
 * Keeps count of the receipts that show a passport to everybody, in the transaction that changes
 * who sees one of them.
 */
export function* movePublicReceipt(
  q: Query,
  { passports }: Tables,
  { run, from, to }: { run: Pick<EndedRun, 'passport'>; from: ShareScope; to: ShareScope },
): Work<void> {
  const change = Number(showsPassport(to)) - Number(showsPassport(from))
  if (run.passport === '' || change === 0) return
  const publicReceipts = sql`${passports.publicReceipts} + ${change}`
  const moved = q
    .update(passports)
    .set({ publicReceipts })
    .where(eq(passports.handle, run.passport))
  yield* rows(moved.returning({ handle: passports.handle }))
}

type ShareScope = Pick<ShareRow, 'visibility' | 'sections'> | undefined

/** Whether everybody may see under which passport the receipt was made. */
const showsPassport = (share: ShareScope): boolean =>
  share?.visibility === 'public' && share.sections.includes('passport')

export type PublicReceipts = {
  /** The newest receipts that show a passport publicly. */
  publicReceipts(passport: PassportRow, limit: number): Promise<PublicReceipt[]>
}

export function publicReceiptsOf(db: Db): PublicReceipts {
  const { runs, shares } = db.tables
  const runId = sql`'run_' || substr(${shares.receiptId}, 6)`
  const shownShare = {
    receiptId: shares.receiptId,
    sections: shares.sections,
    createdAt: shares.createdAt,
  }
  const shownRun = {
    model: runs.model,
    kind: runs.kind,
    outcome: runs.outcome,
    cost: runs.cost,
    digest: runs.digest,
    finishedAt: runs.finishedAt,
  }

  return {
    /** A key never leaves its account, so these are among the shares of the passport's owner. */
    publicReceipts: ({ accountId, handle, publicReceipts }, limit) =>
      db.read(function* (q): Work<PublicReceipt[]> {
        if (publicReceipts === 0) return []
        const own = eq(shares.accountId, accountId)
        const order = q.select({ id: shares.receiptId }).from(shares).where(own)
        const passed = order
          .orderBy(desc(shares.receiptId))
          .limit(1)
          .offset(passedMax - 1)
        const stop = yield* first(passed)
        const listed = and(
          own,
          stop && sql`${shares.receiptId} >= ${stop.id}`,
          eq(shares.visibility, 'public'),
          // A list of names in JSON.
          sql`${shares.sections} like '%"passport"%'`,
          eq(runs.passport, handle),
        )
        const joined = q.select({ share: shownShare, run: shownRun }).from(shares)
        return yield* rows(
          joined
            .innerJoin(runs, sql`${runs.id} = ${runId}`)
            .where(listed)
            .orderBy(desc(shares.receiptId))
            .limit(limit),
        )
      }),
  }
}
