/** Sums up the log: gives each receipt to each counter once, in the order of the log. */
import { asc, eq } from 'drizzle-orm'
import type { Db } from '../db/engine/db.ts'
import { assertLease, type Lease, type LeaseTime, takeLease } from '../db/engine/lease.ts'
import type { EndedRun, RunCostRow, RunRow } from '../db/schema/schema.ts'
import { findFact, lockFacts, writeFacts } from '../db/sql/facts.ts'
import { numbered, numberedRuns } from '../db/sql/numbered-runs.ts'
import { prepared, type Query, type Work } from '../db/sql/query-steps.ts'
import { type CountedReceipt, type Counter, cursorOf } from './counter.ts'
import { recentReceipts } from './recent.ts'

/** Gives each logged receipt to each counter once, in log order. */
export type CountStore = {
  /** Takes or renews the lease to count; undefined while another node holds it. */
  takeLease(): Promise<Lease | undefined>
  /** Whether a receipt may wait to be counted: one look at an index. */
  waits(): Promise<boolean>
  /** Counts up to `most` receipts in one transaction; returns how many. @throws LostLease */
  count(lease: Lease, most: number): Promise<number>
  /** Remembers runs that this process ended, after their COMMIT, so that none is read again. */
  note(ended: readonly EndedRun[], costs: readonly RunCostRow[]): void
  /** Places noted runs that the log numbered after their end. */
  place(placed: readonly Pick<RunRow, 'id' | 'logPlace'>[]): void
}

export function countStore(
  db: Db,
  { clock, node }: { clock: LeaseTime; node: string },
  counters: readonly Counter[],
): CountStore {
  const { runs, runCosts } = db.tables
  /** The least cursor this process has seen. Cursors only grow: nothing waits before it. */
  let seen = 0
  const recent = recentReceipts()
  db.onConnectionLost(() => {
    seen = 0
    recent.forget()
  })
  db.onForeignWrite(recent.forget)

  const counted = {
    place: numbered.place,
    accountId: runs.accountId,
    keyId: runs.keyId,
    kind: runs.kind,
    model: runs.model,
    route: runs.route,
    status: runs.status,
    lines: runs.lines,
    cost: runs.cost,
    passport: runs.passport,
    startedAt: runs.startedAt,
    firstByteAt: runs.firstByteAt,
    finishedAt: runs.finishedAt,
    wholesale: runCosts.cost,
  }

  function* readNext(q: Query, from: number, most: number): Work<CountedReceipt[]> {
    return yield* prepared('counts.next', { from, most }, (values) =>
      q
        .select(counted)
        .from(numberedRuns({ from: values.from, limit: values.most }))
        .innerJoin(runs, eq(runs.id, numbered.runId))
        .leftJoin(runCosts, eq(runCosts.runId, numbered.runId))
        .orderBy(asc(numbered.place)),
    )
  }

  const isBeyond = async (place: number): Promise<boolean> => {
    const beyond = await db.read((q) =>
      prepared('counts.beyond', { place }, (values) =>
        q.select({ place: numbered.place }).from(numberedRuns({ from: values.place, limit: 1 })),
      ),
    )
    return beyond.length > 0
  }

  return {
    takeLease: () => takeLease(db, clock, 'counts', node),
    waits: async () => {
      if (!(await isBeyond(seen))) return false
      if (db.exclusive) return true
      // Another node may have counted them.
      const cursors = await Promise.all(counters.map((one) => findFact(db, cursorOf(one))))
      seen = Math.min(...cursors.map((cursor = '0') => Number(cursor)))
      return isBeyond(seen)
    },
    count: async (lease, most) => {
      const { cursor, count } = await db.write(function* (q) {
        yield* assertLease(db, lease, clock.now())
        const stored = yield* lockFacts(db, counters.map(cursorOf))
        const cursors = counters.map((one) => Number(stored.get(cursorOf(one)) ?? 0))
        const from = Math.min(...cursors)
        const receipts = recent.from(from, most) ?? (yield* readNext(q, from, most))
        const last = receipts.at(-1)
        if (!last) return { cursor: from, count: 0 }
        const moved: string[] = []
        for (const [i, one] of counters.entries()) {
          const cursor = cursors[i] ?? 0
          if (last.place < cursor) continue
          yield* one.add(q, cursor === from ? receipts : receipts.filter((r) => r.place >= cursor))
          moved.push(cursorOf(one))
        }
        yield* writeFacts(db, moved, String(last.place + 1))
        return { cursor: last.place + 1, count: receipts.length }
      })
      seen = cursor
      recent.dropBefore(cursor)
      return count
    },
    note: recent.add,
    place: recent.place,
  }
}
