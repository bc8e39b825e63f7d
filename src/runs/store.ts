/** Stores runs and finds those that nodes left open. */
import { and, desc, eq, gte, inArray, isNull, lt, ne } from 'drizzle-orm'
import { toHex } from '../kernel/hex.ts'
import { toPage } from '../kernel/pagination.ts'
import type { Db } from '../storage/db/db.ts'
import { first, lockFound, rows, update, type Work } from '../storage/db/query-steps.ts'
import type { RunRow } from '../storage/db/schema.ts'
import type { RunStore } from './runs.ts'
import { cancelStore } from './store/cancel.ts'
import { shownRuns } from './store/shown-run.ts'

/** Outputs deleted in one transaction; settlements wait for it. */
const dropBatch = 500
/** Runs looked up by id in one statement. */
const readBatch = 500

export function runStore(db: Db, node: string): RunStore {
  const { accounts, runs, leases } = db.tables
  return {
    ...shownRuns(db),
    ...cancelStore(db),
    find: (id) => db.read((q) => first(q.select().from(runs).where(eq(runs.id, id)))),
    findCommitted: ({ id, accountId }) => {
      const found = eq(runs.id, id)
      if (db.exclusive) return db.read((q) => first(q.select().from(runs).where(found)))
      return db.write(function* (q): Work<RunRow | undefined> {
        yield* lockFound(accounts, { id: [accountId] })
        return yield* first(q.select().from(runs).where(found))
      })
    },
    list: (keyIds, filter, page) =>
      db.read(function* (q) {
        const narrowed = and(
          inArray(runs.keyId, keyIds),
          page.after === undefined ? undefined : lt(runs.id, page.after),
          gte(runs.id, filter.since),
          filter.status === undefined ? undefined : eq(runs.status, filter.status),
          filter.model === undefined ? undefined : eq(runs.model, filter.model),
        )
        const found = q.select().from(runs).where(narrowed).orderBy(desc(runs.id))
        return toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
      }),
    abandoned: (now, limit) =>
      db.read(function* (q) {
        const alive = db.exclusive ? [] : yield* rows(q.select().from(leases))
        const nodes = alive
          .filter((lease) => lease.name.startsWith('node:') && lease.expiresAt > now)
          .map((lease) => lease.holder)
          .concat(node)
        const others = nodes.map((node) => ne(runs.node, node))
        const open = q
          .select()
          .from(runs)
          .where(and(isNull(runs.finishedAt), ...others))
        // In the order of the index: any other order reads every open run for each page.
        const found = yield* rows(open.orderBy(runs.node).limit(limit))
        return found.sort((a, b) => (a.id < b.id ? -1 : 1))
      }),
    openHere: () =>
      db.read((q) => {
        const own = and(isNull(runs.finishedAt), eq(runs.node, node))
        return rows(q.select({ id: runs.id }).from(runs).where(own))
      }),
    digests: async (ids) => {
      const found = new Map<string, string>()
      const { id, digest } = runs
      for (let i = 0; i < ids.length; i += readBatch) {
        const some = inArray(id, ids.slice(i, i + readBatch))
        const page = await db.read((q) => rows(q.select({ id, digest }).from(runs).where(some)))
        for (const row of page) if (row.digest) found.set(row.id, toHex(row.digest))
      }
      return found
    },
    dropOutputs: async (now) => {
      const drop = () =>
        db.write(function* (q) {
          const named = q.select({ id: runs.id }).from(runs)
          const due = yield* rows(named.where(lt(runs.outputUntil, now)).limit(dropBatch))
          const dropped = due.map(({ id }) => ({ id, output: null, outputUntil: null }))
          yield* update(runs, dropped, ['output', 'outputUntil'])
          return due.length
        })
      while ((await drop()) === dropBatch);
    },
  }
}
