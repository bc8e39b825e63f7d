import { asc, gte, sql } from 'drizzle-orm'
import { type Db, prepared, type Query, rows, type Work } from '../db/db.ts'
import { findFact, lockFact, writeFact } from '../db/facts.ts'
import { assertLease, type Lease, takeLease } from '../db/lease.ts'
import type { UsageDayRow } from '../db/schema.ts'
import type { Clock, Millis } from '../kernel/clock.ts'
import type { Span } from './places.ts'
import { dayOf, toUsageDays } from './usage.ts'

export type CountStore = ReturnType<typeof countStore>

/** The first place of the log that is not counted. */
export const cursorFact = 'usage.cursor'
export const markPrefix = 'usage.day.'

/** `20261121` at the end of a fact: where in the log the receipts of that day are. */
export const markName = (day: Millis): string =>
  `${markPrefix}${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Rows of one upsert: with nine columns each they stay far below what an engine binds at once. */
const upsertMax = 128

/** Counts each receipt once, in the order of the log; what is counted and how far is one fact. */
export function countStore(db: Db, { clock, node }: { clock: Pick<Clock, 'now'>; node: string }) {
  const { runs, usageDays } = db.tables
  /** The cursor as this process last saw it: it only grows, so nothing waits before it. */
  let seen = 0

  const counted = {
    place: runs.logPlace,
    accountId: runs.accountId,
    keyId: runs.keyId,
    model: runs.model,
    status: runs.status,
    lines: runs.lines,
    cost: runs.cost,
    finishedAt: runs.finishedAt,
  }

  const adding = (q: Query, days: UsageDayRow[]) => {
    const { accountId, day, keyId, model } = usageDays
    const target = [accountId, day, keyId, model]
    const set = {
      runs: sql`${usageDays.runs} + excluded.runs`,
      succeeded: sql`${usageDays.succeeded} + excluded.succeeded`,
      inputUnits: sql`${usageDays.inputUnits} + excluded.input_units`,
      outputUnits: sql`${usageDays.outputUnits} + excluded.output_units`,
      cost: sql`${usageDays.cost} + excluded.cost`,
    }
    return q.insert(usageDays).values(days).onConflictDoUpdate({ target, set }).returning({ day })
  }

  /** One round trip to a server; in process, where there is none, a compiled statement for each. */
  function* addDays(q: Query, days: UsageDayRow[]): Work<void> {
    if (db.exclusive) {
      for (const day of days) yield* prepared('usage.add', day, (values) => adding(q, [values]))
      return
    }
    for (let at = 0; at < days.length; at += upsertMax) {
      yield* rows(adding(q, days.slice(at, at + upsertMax)))
    }
  }

  /** Widens the marks of the days that these receipts are of. */
  function* markDays(q: Query, receipts: { finishedAt: Millis; place: number }[]): Work<void> {
    const marks = new Map<Millis, Span>()
    for (const { finishedAt, place } of receipts) {
      const day = dayOf(finishedAt)
      marks.set(day, { start: marks.get(day)?.start ?? place, end: place + 1 })
    }
    for (const [day, { start, end }] of marks) {
      const before = yield* lockFact(db, q, markName(day))
      const first = before === undefined ? start : Math.min(start, readMark(before).start)
      yield* writeFact(db, markName(day), `${first} ${end}`)
    }
  }

  const isBeyond = async (place: number): Promise<boolean> => {
    const beyond = await db.read((q) =>
      prepared('usage.beyond', { place }, (values) =>
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
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, 'usage', node),
    /** Whether a receipt may wait to be counted: one look at an index. */
    waits: async (): Promise<boolean> => {
      if (!(await isBeyond(seen))) return false
      if (db.exclusive) return true
      // Another node may have counted what this one has not seen counted.
      seen = Number((await findFact(db, cursorFact)) ?? 0)
      return isBeyond(seen)
    },
    /** Counts up to `most` receipts, and returns how many. */
    count: async (lease: Lease, most: number): Promise<number> => {
      const { cursor, count } = await db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        const from = Number((yield* lockFact(db, q, cursorFact)) ?? 0)
        const found = yield* prepared('usage.next', { from, most }, (values) =>
          q
            .select(counted)
            .from(runs)
            .where(gte(runs.logPlace, values.from))
            .orderBy(asc(runs.logPlace))
            .limit(values.most),
        )
        const receipts = found.map((run) => {
          if (run.place === null || run.finishedAt === null) throw new Error('a run without an end')
          return { ...run, place: run.place, finishedAt: run.finishedAt }
        })
        const last = receipts.at(-1)
        if (!last) return { cursor: from, count: 0 }
        yield* addDays(q, toUsageDays(receipts))
        yield* markDays(q, receipts)
        yield* writeFact(db, cursorFact, String(last.place + 1))
        return { cursor: last.place + 1, count: receipts.length }
      })
      seen = cursor
      return count
    },
  }
}

export function readMark(text: string): Span {
  const [start, end] = text.split(' ').map(Number)
  if (start === undefined || end === undefined) throw new Error('a mark of usage is not readable')
  return { start, end }
}
