/** Adds ended runs to the usage sums, in log order. */
import { type Column, sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { type CountedReceipt, type Counter, cursorOf } from '../../../storage/counts/counter.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type {
  FirstTokenRow,
  UsageDayRow,
  UsageQuarterRow,
} from '../../../storage/db/schema/schema.ts'
import { lockFact, writeFact } from '../../../storage/db/sql/facts.ts'
import { prepared, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { toFirstTokens, toUsageDays, toUsageQuarters } from '../counted-rows.ts'
import type { Span } from '../log-range.ts'
import { dayOf, type Sums } from '../usage.ts'

const name = 'usage'

/** The first place of the log that is not counted. */
export const cursorFact = cursorOf({ name })
export const markPrefix = 'usage.day.'

/** `20261121` at the end of a fact: where in the log the receipts of that day are. */
export const markName = (day: Millis): string =>
  `${markPrefix}${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Rows of one upsert: thirteen columns each stay far below what an engine binds. */
const upsertMax = 128

type Adding = { all(): { at: number }[]; run(): unknown }

/** Counts receipts into the sums of their time, and marks where in the log each day is. */
export function usageCounter(db: Db): Counter {
  const { usageDays, usageQuarters, firstTokens } = db.tables

  const addingDays = (q: Query, days: UsageDayRow[]) => {
    const { accountId, day, keyId, model } = usageDays
    const target = [accountId, day, keyId, model]
    const set = addedSums(usageDays)
    const insert = q.insert(usageDays).values(days)
    return insert.onConflictDoUpdate({ target, set }).returning({ at: day })
  }

  const addingQuarters = (q: Query, quarters: UsageQuarterRow[]) => {
    const { accountId, at, keyId, model, provider } = usageQuarters
    const target = [accountId, at, keyId, model, provider]
    const set = addedSums(usageQuarters)
    const insert = q.insert(usageQuarters).values(quarters)
    return insert.onConflictDoUpdate({ target, set }).returning({ at })
  }

  const addingWaits = (q: Query, waits: FirstTokenRow[]) => {
    const { accountId, at, keyId, model, provider, bar, runs } = firstTokens
    const target = [accountId, at, keyId, model, provider, bar]
    const set = { runs: sql`${runs} + excluded.runs` }
    const insert = q.insert(firstTokens).values(waits)
    return insert.onConflictDoUpdate({ target, set }).returning({ at })
  }

  /** One round trip to a server; in process, where there is none, a compiled statement for each. */
  function* addRows<T extends Record<string, unknown>>(
    q: Query,
    statement: string,
    added: T[],
    adding: (q: Query, rows: T[]) => Adding,
  ): Work<void> {
    if (db.exclusive) {
      for (const row of added) yield* prepared(statement, row, (values) => adding(q, [values as T]))
      return
    }
    for (let at = 0; at < added.length; at += upsertMax) {
      yield* rows(adding(q, added.slice(at, at + upsertMax)))
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
      yield* addRows(q, 'usage.add', toUsageDays(receipts), addingDays)
      yield* addRows(q, 'usage.add_quarter', toUsageQuarters(receipts), addingQuarters)
      yield* addRows(q, 'usage.add_wait', toFirstTokens(receipts), addingWaits)
      yield* markDays(receipts)
    },
  }
}

type SumColumns = Record<keyof Sums, Column>

/** The sums of a row after an upsert into it. */
const addedSums = (table: SumColumns) => ({
  runs: sql`${table.runs} + excluded.runs`,
  succeeded: sql`${table.succeeded} + excluded.succeeded`,
  inputUnits: sql`${table.inputUnits} + excluded.input_units`,
  outputUnits: sql`${table.outputUnits} + excluded.output_units`,
  cachedUnits: sql`${table.cachedUnits} + excluded.cached_units`,
  cacheWriteUnits: sql`${table.cacheWriteUnits} + excluded.cache_write_units`,
  reasoningUnits: sql`${table.reasoningUnits} + excluded.reasoning_units`,
  cost: sql`${table.cost} + excluded.cost`,
})

export function readMark(text: string): Span {
  const [start, end] = text.split(' ').map(Number)
  if (start === undefined || end === undefined) throw new Error('a mark of usage is not readable')
  return { start, end }
}
