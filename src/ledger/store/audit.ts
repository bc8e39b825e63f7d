/** Reads the journal, runs and balances that an audit compares. */
import { and, asc, gt, inArray, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { DepositRow, StoredRun, TransferRow } from '../../storage/db/schema/schema.ts'
import { findFact, writeFact } from '../../storage/db/sql/facts.ts'
import { first, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { wideSum } from '../../storage/db/sql/wide-sum.ts'
import { windowId } from '../../storage/holds/open-runs.ts'
import { type Audit, type AuditPoint, makeAudit, type SideSums } from '../audit.ts'
import { isBrakeWindow } from '../brake.ts'
import { expectLiabilities } from './expect-liabilities.ts'

/** Audits of the whole ledger. Each works on one snapshot, so that the server can go on. */
export type AuditStore = {
  /** Finds every difference; writes nothing. */
  faults(now: Millis): Promise<string[]>
  /** The same with the sums of all sides. */
  report(now: Millis): Promise<AuditReport>
  /**
   * Finds every difference. Without one it stores its point for {@link sinceLast}.
   * @throws the reason of `ending` at the next page of rows.
   */
  whole(now: Millis, ending?: AbortSignal): Promise<string[]>
  /** Faults of the open holds, and of the sum of all balances since the last whole audit. */
  sinceLast(): Promise<string[]>
}

/** The differences, and the sum that each side received less what it paid. */
export type AuditReport = { faults: string[]; sides: SideSums }

/** Rows of one step; the event loop turns between steps. */
const pageRows = 2000
const pageAccounts = 500
/** A slow node may still commit transfers with a time this far in the past, in ms. */
const lateMs = 600_000
const pointFact = 'audit.point'

export function auditStore(db: Db): AuditStore {
  const { accounts, carriedWindows, deposits, keyWindows, transfers, runs } = db.tables
  const open = db.tables.openRuns
  const { journal } = db.views

  function* openRuns(q: Query, audit: Audit): Work<void> {
    const held = { accountId: open.accountId, hold: open.hold, windows: open.windows }
    for (const run of yield* rows(q.select(held).from(open))) audit.addOpenRun(run)
  }

  function* everyTransfer(q: Query, audit: Audit, ending?: AbortSignal): Work<void> {
    const { accountId, ref, kind } = transfers
    let last: TransferRow | undefined
    for (;;) {
      ending?.throwIfAborted()
      const after: TransferRow | undefined = last
      const beyond = after
        ? sql`(${accountId}, ${ref}, ${kind}) > (${after.accountId}, ${after.ref}, ${after.kind})`
        : undefined
      const page: TransferRow[] = yield* rows(
        q
          .select()
          .from(transfers)
          .where(beyond)
          .orderBy(asc(accountId), asc(ref), asc(kind))
          .limit(pageRows),
      )
      for (const transfer of page) audit.addTransfer(transfer)
      last = page.at(-1)
      if (page.length < pageRows) return
    }
  }

  function* everyRun(q: Query, audit: Audit, ending?: AbortSignal): Work<void> {
    const some = {
      id: runs.id,
      accountId: runs.accountId,
      cost: runs.cost,
      windows: runs.windows,
      seq: runs.seq,
      movedAt: runs.movedAt,
    }
    let last = ''
    for (;;) {
      ending?.throwIfAborted()
      const page: Pick<StoredRun, keyof typeof some>[] = yield* rows(
        q.select(some).from(runs).where(gt(runs.id, last)).orderBy(asc(runs.id)).limit(pageRows),
      )
      for (const run of page) audit.addEnded(run)
      last = page.at(-1)?.id ?? last
      if (page.length < pageRows) return
    }
  }

  function* everyDeposit(q: Query, audit: Audit, ending?: AbortSignal): Work<void> {
    let last = ''
    for (;;) {
      ending?.throwIfAborted()
      const some = q.select().from(deposits).where(gt(deposits.id, last))
      const page: DepositRow[] = yield* rows(some.orderBy(asc(deposits.id)).limit(pageRows))
      for (const row of page) audit.checkDeposit(row)
      last = page.at(-1)?.id ?? last
      if (page.length < pageRows) return
    }
  }

  function* everyCarried(q: Query, audit: Audit): Work<void> {
    for (const { keyId, windowStart, amount } of yield* rows(q.select().from(carriedWindows))) {
      if (!isBrakeWindow(windowStart)) audit.addCarried(windowId(keyId, windowStart), amount)
    }
  }

  function* everyPurse(q: Query, audit: Audit, whole: boolean): Work<void> {
    const held = whole ? undefined : gt(accounts.held, 0n)
    for (const row of yield* rows(q.select().from(accounts).where(held))) {
      audit.checkAccount(row, whole)
    }
    const inUse = whole ? undefined : gt(keyWindows.held, 0n)
    for (const row of yield* rows(q.select().from(keyWindows).where(inUse))) {
      audit.checkWindow(windowId(row.keyId, row.windowStart), row, whole)
    }
  }

  /** Goes by account, because no index has the times of all transfers. */
  function* movedAfter(q: Query, until: Millis): Work<TransferRow[]> {
    const { id, movedAt } = accounts
    const moved = yield* rows(q.select({ id }).from(accounts).where(gt(movedAt, until)))
    const found: TransferRow[] = []
    for (let at = 0; at < moved.length; at += pageAccounts) {
      const some = moved.slice(at, at + pageAccounts).map((account) => account.id)
      const later = and(inArray(journal.accountId, some), gt(journal.at, until))
      found.push(...(yield* rows(q.select().from(journal).where(later))))
    }
    return found
  }

  const compare = (until: Millis, ending?: AbortSignal): Promise<Audit> =>
    db.snapshot(function* (q) {
      const begun = makeAudit(until)
      yield* openRuns(q, begun)
      yield* expectLiabilities(db, q, begun, ending)
      yield* everyTransfer(q, begun, ending)
      yield* everyDeposit(q, begun, ending)
      yield* everyRun(q, begun, ending)
      yield* everyCarried(q, begun)
      yield* everyPurse(q, begun, true)
      return begun
    })

  return {
    faults: async (now) => (await compare(now)).faults(),
    report: async (now) => {
      const audit = await compare(now)
      return { faults: audit.faults(), sides: audit.sides() }
    },
    whole: async (now, ending) => {
      const audit = await compare(now - lateMs, ending)
      const faults = audit.faults()
      if (faults.length === 0) {
        const point = JSON.stringify(audit.point())
        await db.write(() => writeFact(db, pointFact, point))
      }
      return faults
    },
    sinceLast: async () => {
      const stored = await findFact(db, pointFact)
      const point: AuditPoint = stored ? JSON.parse(stored) : { until: -1, total: '0' }
      return db.snapshot(function* (q) {
        const audit = makeAudit(point.until)
        yield* openRuns(q, audit)
        yield* everyPurse(q, audit, false)
        for (const transfer of yield* movedAfter(q, point.until)) audit.addTransfer(transfer)
        const balances = yield* first(q.select({ sum: wideSum(accounts.balance) }).from(accounts))
        audit.checkTotal(point, balances?.sum ?? 0n)
        return audit.faults()
      })
    },
  }
}
