/** Counts logged receipts into the records of passports. */
import { sql } from 'drizzle-orm'
import { type CountedReceipt, type Counter, cursorOf } from '../../../storage/counts/counter.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { PassportModelRow, PassportRow } from '../../../storage/db/schema/schema.ts'
import {
  lockedRows,
  prepared,
  type Query,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { dayOf } from '../record.ts'

const name = 'passports'

/** The first place of the log whose receipt is in no record yet. */
export const cursorFact = cursorOf({ name })

/** Counts receipts into the record of the passport that they name. */
export function passportCounter(db: Db): Counter {
  const { passports, passportModels: models } = db.tables
  const { handle } = passports

  /** Returns false for an unknown handle: one bad receipt must not stop the count of others. */
  function* addRecord(q: Query, receipts: readonly CountedReceipt[]): Work<boolean> {
    const [{ passport } = { passport: '' }] = receipts
    const [row] = yield* lockedRows(q.select().from(passports).where(sql`${handle} = ${passport}`))
    if (!row) return false
    yield* update(passports, [toCounted(row, receipts)], counted)
    return true
  }

  const addingModel = (q: Query, row: PassportModelRow) => {
    const target = [models.handle, models.model]
    const set = { runs: sql`${models.runs} + excluded.runs` }
    const added = q.insert(models).values(row).onConflictDoUpdate({ target, set })
    return added.returning({ model: models.model })
  }

  function* addModels(q: Query, receipts: readonly CountedReceipt[]): Work<void> {
    const [{ passport } = { passport: '' }] = receipts
    const byModel = Map.groupBy(receipts, ({ model }) => model)
    for (const [model, own] of [...byModel].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const row = { handle: passport, model, runs: own.length }
      yield* prepared('passports.addModel', row, (values) => addingModel(q, values))
    }
  }

  return {
    name,
    *add(q, receipts) {
      const named = receipts.filter(({ passport }) => passport !== '')
      const byHandle = Map.groupBy(named, ({ passport }) => passport)
      // In one order everywhere: rows are locked.
      for (const [, own] of [...byHandle].sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (yield* addRecord(q, own)) yield* addModels(q, own)
      }
    },
  }
}

const counted = [
  'runs',
  'succeeded',
  'spent',
  'activeDays',
  'firstAt',
  'lastAt',
] as const satisfies (keyof PassportRow)[]

/** The record with receipts of it added, which come in the order of the log. */
function toCounted(row: PassportRow, receipts: readonly CountedReceipt[]): PassportRow {
  const next = { ...row }
  for (const { status, cost, finishedAt } of receipts) {
    // The log is in the order of time but for moments: a day that is over was counted then.
    const isNewDay = next.lastAt === null || dayOf(finishedAt) > dayOf(next.lastAt)
    next.runs += 1
    next.succeeded += status === 'succeeded' ? 1 : 0
    next.spent += cost
    next.activeDays += isNewDay ? 1 : 0
    next.firstAt = Math.min(next.firstAt ?? finishedAt, finishedAt)
    next.lastAt = Math.max(next.lastAt ?? finishedAt, finishedAt)
  }
  return next
}
