/** Adds ended runs to the usage sums, in log order. */
import { sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { type CountedReceipt, type Counter, cursorOf } from '../../../storage/counts/counter.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { UsageDayRow } from '../../../storage/db/schema/schema.ts'
import { lockFact, writeFact } from '../../../storage/db/sql/facts.ts'
import { prepared, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { Span } from '../log-range.ts'
import { dayOf, toUsageDays } from '../usage.ts'

const name = 'usage'

/** The first place of the log that is not counted. */
export const cursorFact = cursorOf({ name })
export const markPrefix = 'usage.day.'

/** `20261121` at the end of a fact: where in the log the receipts of that day are. */
export const markName = (day: Millis): string =>
  `${markPrefix}${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Rows of one upsert: twelve columns each stay far below what an engine binds. */
const upsertMax = 128

/** Counts receipts into the sums of their day, and marks where in the log each day is. */
export function usageCounter(db: Db): Counter {
  const { usageDays } = db.tables

  const adding = (q: Query, days: UsageDayRow[]) => {
    const { accountId, day, keyId, model } = usageDays
    const target = [accountId, day, keyId, model]
    const set = {
      runs: sql`${usageDays.runs} + excluded.runs`,
      succeeded: sql`${usageDays.succeeded} + excluded.succeeded`,
      inputUnits: sql`${usageDays.inputUnits} + excluded.input_units`,
      outputUnits: sql`${usageDays.outputUnits} + excluded.output_units`,
      cachedUnits: sql`${usageDays.cachedUnits} + excluded.cached_units`,
      cacheWriteUnits: sql`${usageDays.cacheWriteUnits} + excluded.cache_write_units`,
      reasoningUnits: sql`${usageDays.reasoningUnits} + excluded.reasoning_units`,
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
  function* markDays(receipts: readonly CountedReceipt[]): Work<void> {
    const marks = new Map<Millis, Span>()
    for (const { finishedAt, place } of receipts) {
      const day = dayOf(finishedAt)
      marks.set(day, { start: marks.get(day)?.start ?? place, end: place + 1 })
    }
    for (const [day, { start, end }] of marks) {
      const before = yield* lockFact(db, markName(day))
      const first = before === undefined ? start : Math.min(start, readMark(before).start)
      yield* writeFact(db, markName(day), `${first} ${end}`)
    }
  }

  return {
    name,
    *add(q, receipts) {
      yield* addDays(q, toUsageDays(receipts))
      yield* markDays(receipts)
    },
  }
}

export function readMark(text: string): Span {
  const [start, end] = text.split(' ').map(Number)
  if (start === undefined || end === undefined) throw new Error('a mark of usage is not readable')
  return { start, end }
}
