/** Stores the parts of responses that are kept, and deletes them. */
import { and, asc, eq, inArray, lt, lte, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Clock, Millis } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Db } from '../db/engine/db.ts'
import type { KeptItemRow, Tables } from '../db/schema/schema.ts'
import { findFields, findRows, first, type Query, rows, type Work } from '../db/sql/query-steps.ts'

/** A kept row without what it holds. */
export type KeptMark = Pick<KeptItemRow, 'id' | 'runId' | 'keys' | 'bytes' | 'until'>

/** The kept responses, by account and id. */
export type KeptStore = {
  /** The rows of an account with these ids that are not past, of all its runs. */
  find(account: string, ids: readonly string[]): Promise<KeptMark[]>
  /** The rows of an account's runs that are not past. */
  findRuns(account: string, runIds: readonly string[]): Promise<KeptMark[]>
  /** Whole rows, at least those of these ids in these runs. */
  read(account: string, named: readonly Pick<KeptMark, 'id' | 'runId'>[]): Promise<KeptItemRow[]>
  /** Puts off the end of what is kept of these runs. */
  putOff(account: string, runIds: readonly string[], until: Millis): Promise<void>
  /** Notes what was kept, and deletes the oldest of an account that has more than its share. */
  added(rows: readonly Pick<KeptItemRow, 'accountId' | 'bytes'>[]): void
  /** Deletes what is past, and what accounts have that asked to keep nothing. */
  dropPast(now: Millis): Promise<void>
}

/** Runs whose rows are deleted in one transaction: ending runs wait for it. */
const dropBatch = 100

/** How many times an account adds before what it has is summed up again, for its whole share. */
const steps = 16

/** Accounts that are remembered between two sums. */
const room = { maxSize: 10_000, sizeCalculation: () => 1 }

type Needs = {
  clock: Pick<Clock, 'now'>
  log: Log
  settings: { keptBytesPerAccount: number }
}

export function keptStore(db: Db, { clock, log, settings }: Needs): KeptStore {
  const { keptItems, accountSettings } = db.tables
  const mark = ['id', 'runId', 'keys', 'bytes', 'until'] as const
  /** Bytes that accounts added since they were summed up. */
  const grown = new LRUCache<string, number>(room)

  const isLive = ({ until }: { until: Millis }): boolean => until > clock.now()

  /** Deletes the oldest runs of an account until it has no more than its share. */
  const trim = async (account: string): Promise<void> => {
    const own = eq(keptItems.accountId, account)
    const total = sql<number | string>`coalesce(sum(${keptItems.bytes}), 0)`
    const found = await db.read((q) => first(q.select({ total }).from(keptItems).where(own)))
    let excess = Number(found?.total ?? 0) - settings.keptBytesPerAccount
    while (excess > 0) {
      const oldest = await db.write(function* (q) {
        const { runId, until, bytes } = keptItems
        const from = q.select({ runId, bytes }).from(keptItems).where(own)
        const page = yield* rows(from.orderBy(asc(until), asc(runId)).limit(dropBatch))
        const going = new Set<string>()
        let freed = 0
        for (const row of page) {
          if (freed >= excess && !going.has(row.runId)) break
          going.add(row.runId)
          freed += row.bytes
        }
        yield* forgetItems(q, db.tables, [...going])
        return { freed, runs: going.size }
      })
      if (oldest.runs === 0) return
      excess -= oldest.freed
    }
  }

  return {
    find: async (account, ids) => {
      const where = { accountId: [account], id: [...ids] }
      return (await db.read(() => findFields(keptItems, mark, where))).filter(isLive)
    },
    findRuns: async (account, runIds) => {
      const where = { accountId: [account], runId: [...runIds] }
      return (await db.read(() => findFields(keptItems, mark, where))).filter(isLive)
    },
    read: (account, named) => {
      const id = [...new Set(named.map((one) => one.id))]
      const runId = [...new Set(named.map((one) => one.runId))]
      return db.read(() => findRows(keptItems, { accountId: [account], id, runId }))
    },
    putOff: (account, runIds, until) =>
      db.write(function* (q) {
        const { accountId, runId } = keptItems
        const own = and(eq(accountId, account), inArray(runId, [...runIds]))
        const sooner = and(own, lt(keptItems.until, until))
        yield* rows(q.update(keptItems).set({ until }).where(sooner).returning({ runId }))
      }),
    added(all) {
      for (const { accountId, bytes } of all) {
        const sum = (grown.get(accountId) ?? 0) + bytes
        const isDue = sum > settings.keptBytesPerAccount / steps
        grown.set(accountId, isDue ? 0 : sum)
        if (isDue) trim(accountId).catch((error) => log.error('responses.trim_failed', error))
      }
    },
    dropPast: async (now) => {
      await drop(db, lte(keptItems.until, now))
      // A run that ended while its account decided may have kept its answer after all was deleted.
      const { accountId } = accountSettings
      const silent = eq(accountSettings.keepsResponses, false)
      const named = (q: Query) => q.select({ accountId }).from(accountSettings).where(silent)
      await drop(db, (q) => inArray(keptItems.accountId, named(q)))
    },
  }
}

/** Deletes all that is kept of an account's responses. */
export const dropItemsOf = (db: Db, account: string): Promise<void> =>
  drop(db, eq(db.tables.keptItems.accountId, account))

type Condition = ReturnType<typeof eq>

/** Deletes the runs that have a row like this, in batches. */
async function drop(db: Db, condition: Condition | ((q: Query) => Condition)): Promise<void> {
  const { tables } = db
  const { runId } = tables.keptItems
  for (;;) {
    const count = await db.write(function* (q) {
      const where = typeof condition === 'function' ? condition(q) : condition
      const due = q.selectDistinct({ runId }).from(tables.keptItems).where(where).limit(dropBatch)
      const runIds = (yield* rows(due)).map((row) => row.runId)
      yield* forgetItems(q, tables, runIds)
      return runIds.length
    })
    if (count < dropBatch) return
  }
}

/** Deletes what is kept of these runs, in the caller's transaction. */
export function* forgetItems(
  q: Query,
  { keptItems }: Pick<Tables, 'keptItems'>,
  runIds: readonly string[],
): Work<void> {
  if (runIds.length === 0) return
  const named = inArray(keptItems.runId, [...runIds])
  yield* rows(q.delete(keptItems).where(named).returning({ id: keptItems.id }))
}
