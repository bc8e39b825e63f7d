/** Stores runs and finds those that nodes left open. */
import { and, desc, eq, gte, inArray, lt, ne } from 'drizzle-orm'
import { toHex } from '../kernel/hex.ts'
import { toPage } from '../kernel/pagination.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { runColumns } from '../storage/db/schema/run-columns.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import {
  first,
  lockFound,
  type Query,
  rows,
  update,
  type Work,
} from '../storage/db/sql/query-steps.ts'
import { toRunRow } from '../storage/holds/open-runs.ts'
import type { RunStore } from './runs.ts'
import { cancelStore } from './store/cancel.ts'
import { openRunReads, withEnded } from './store/open-run.ts'
import { shownRuns } from './store/shown-run.ts'

/** Outputs deleted in one transaction; settlements wait for it. */
const dropBatch = 500
/** Runs looked up by id in one statement. */
const readBatch = 500

/** `mark` is what the ids of this shard begin with. */
export function runStore(db: Db, node: string, mark = ''): RunStore {
  const { accounts, runs, openRuns, leases } = db.tables
  const columns = runColumns(db)
  const open = openRunReads(db)

  function* find(q: Query, id: string): Work<RunRow | undefined> {
    // In this order, because a run may end in between.
    const running = yield* open.find(q, id)
    return (yield* first(q.select(columns).from(runs).where(eq(runs.id, id)))) ?? running
  }

  return {
    ...shownRuns(db, mark),
    ...cancelStore(db),
    find: (id) => db.read((q) => find(q, id)),
    findCommitted: ({ id, accountId }) => {
      if (db.exclusive) return db.read((q) => find(q, id))
      return db.write(function* (q): Work<RunRow | undefined> {
        yield* lockFound(accounts, { id: [accountId] })
        return yield* find(q, id)
      })
    },
    list: (keyIds, filter, page) =>
      db.read(function* (q) {
        const { status, model, since } = filter
        const { after } = page
        const isOwn = inArray(openRuns.keyId, keyIds)
        const running = yield* open.matching(
          q,
          isOwn,
          (run) =>
            keyIds.includes(run.keyId) &&
            (after === undefined || run.id < after) &&
            run.id >= since &&
            (status === undefined || run.status === status) &&
            (model === undefined || run.model === model),
        )
        const narrowed = and(
          inArray(runs.keyId, keyIds),
          after === undefined ? undefined : lt(runs.id, after),
          gte(runs.id, since),
          status === undefined ? undefined : eq(runs.status, status),
          model === undefined ? undefined : eq(runs.model, model),
        )
        const found = q.select(columns).from(runs).where(narrowed).orderBy(desc(runs.id))
        const ended = yield* rows(found.limit(page.limit + 1))
        return toPage(withEnded(running, ended), page.limit)
      }),
    abandoned: (now, limit) =>
      db.read(function* (q) {
        const alive = db.exclusive ? [] : yield* rows(q.select().from(leases))
        const nodes = alive
          .filter((lease) => lease.name.startsWith('node:') && lease.expiresAt > now)
          .map((lease) => lease.holder)
          .concat(node)
        const others = nodes.map((node) => ne(openRuns.node, node))
        const left = q
          .select()
          .from(openRuns)
          .where(and(...others))
          .limit(limit)
        return (yield* rows(left)).map(toRunRow).sort((a, b) => (a.id < b.id ? -1 : 1))
      }),
    openHere: () =>
      db.read((q) =>
        rows(q.select({ id: openRuns.id }).from(openRuns).where(eq(openRuns.node, node))),
      ),
    digests: async (ids) => {
      const found = new Map<string, string>()
      const { id, digest } = runs
      for (let i = 0; i < ids.length; i += readBatch) {
        const some = inArray(id, ids.slice(i, i + readBatch))
        const page = await db.read((q) => rows(q.select({ id, digest }).from(runs).where(some)))
        for (const row of page) found.set(row.id, toHex(row.digest))
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
