import { asc, gte } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../db/db.ts'
import { findFact, lockFact, writeFact } from '../db/facts.ts'
import { assertLease, type Lease, type LeaseTime, takeLease } from '../db/lease.ts'
import { prepared, type Query, type Work } from '../db/query-steps.ts'
import type { RunRow } from '../db/schema.ts'

export type CountStore = ReturnType<typeof countStore>

/** What of a logged receipt is counted. */
export type CountedReceipt = Pick<
  RunRow,
  'accountId' | 'keyId' | 'model' | 'status' | 'lines' | 'cost' | 'passport'
> & { place: number; finishedAt: Millis }

/**
 * Something that is summed up from the log. Its sums hold the receipts before its own cursor, so a
 * counter that is new to a database begins at the first receipt, whatever others have counted.
 */
export type Counter = {
  /** Its cursor is the fact `<name>.cursor`. */
  name: string
  /** Adds receipts that it never saw, in the order of the log, inside the cursor's transaction. */
  add: (q: Query, receipts: readonly CountedReceipt[]) => Work<void>
}

/** The first place of the log that a counter has not counted. */
export const cursorOf = ({ name }: Pick<Counter, 'name'>): string => `${name}.cursor`

/**
 * Gives each logged receipt to each counter once, in the order of the log; what is counted and how
 * far is one transaction.
 */
export function countStore(
  db: Db,
  { clock, node }: { clock: LeaseTime; node: string },
  counters: readonly Counter[],
) {
  const { runs } = db.tables
  /** The last cursor as this process last saw it: it only grows, so nothing waits before it. */
  let seen = 0
  db.onConnectionLost(() => {
    seen = 0
  })

  const counted = {
    place: runs.logPlace,
    accountId: runs.accountId,
    keyId: runs.keyId,
    model: runs.model,
    status: runs.status,
    lines: runs.lines,
    cost: runs.cost,
    passport: runs.passport,
    finishedAt: runs.finishedAt,
  }

  function* readNext(q: Query, from: number, most: number): Work<CountedReceipt[]> {
    const found = yield* prepared('counts.next', { from, most }, (values) =>
      q
        .select(counted)
        .from(runs)
        .where(gte(runs.logPlace, values.from))
        .orderBy(asc(runs.logPlace))
        .limit(values.most),
    )
    return found.map((run) => {
      if (run.place === null || run.finishedAt === null) throw new Error('a run without an end')
      return { ...run, place: run.place, finishedAt: run.finishedAt }
    })
  }

  const isBeyond = async (place: number): Promise<boolean> => {
    const beyond = await db.read((q) =>
      prepared('counts.beyond', { place }, (values) =>
        q
          .select({ place: runs.logPlace })
          .from(runs)
          .where(gte(runs.logPlace, values.place))
          .orderBy(asc(runs.logPlace))
          .limit(1),
      ),
    )
    return beyond.length > 0
  }

  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, 'counts', node),
    /** Whether a receipt may wait to be counted: one look at an index. */
    waits: async (): Promise<boolean> => {
      if (!(await isBeyond(seen))) return false
      if (db.exclusive) return true
      // Another node may have counted what this one has not seen counted.
      const cursors = await Promise.all(counters.map((one) => findFact(db, cursorOf(one))))
      seen = Math.min(...cursors.map((cursor = '0') => Number(cursor)))
      return isBeyond(seen)
    },
    /** Counts up to `most` receipts, and returns how many. */
    count: async (lease: Lease, most: number): Promise<number> => {
      const { cursor, count } = await db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        const cursors: number[] = []
        for (const one of counters) {
          cursors.push(Number((yield* lockFact(db, q, cursorOf(one))) ?? 0))
        }
        const from = Math.min(...cursors)
        const receipts = yield* readNext(q, from, most)
        const last = receipts.at(-1)
        if (!last) return { cursor: from, count: 0 }
        for (const [i, one] of counters.entries()) {
          const cursor = cursors[i] ?? 0
          if (last.place < cursor) continue
          yield* one.add(q, cursor === from ? receipts : receipts.filter((r) => r.place >= cursor))
          yield* writeFact(db, cursorOf(one), String(last.place + 1))
        }
        return { cursor: last.place + 1, count: receipts.length }
      })
      seen = cursor
      return count
    },
  }
}
