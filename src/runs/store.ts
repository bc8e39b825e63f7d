import { and, desc, eq, gte, inArray, isNull, lt, ne } from 'drizzle-orm'
import type { Millis } from '../kernel/clock.ts'
import { toHex } from '../kernel/hex.ts'
import { type Page, type PageRequest, toPage } from '../kernel/pagination.ts'
import { type Db, first, lockFound, rows, update, type Work } from '../storage/db/db.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { cancelStore } from './store/cancel.ts'
import { shownRuns } from './store/shown-run.ts'

export type RunStore = ReturnType<typeof runStore>

/** What a list of runs can be narrowed by. */
export type RunFilter = { status?: RunRow['status'] | undefined; model?: string | undefined }

/** The id that none of a list is before. */
type Since = { since: string }

/** Outputs forgotten in one transaction; settles wait for it. */
const dropBatch = 500
/** Runs looked up by id in one statement. */
const readBatch = 500

export function runStore(db: Db, node: string) {
  const { accounts, runs, leases } = db.tables
  return {
    ...shownRuns(db),
    ...cancelStore(db),
    find: (id: string): Promise<RunRow | undefined> =>
      db.read((q) => first(q.select().from(runs).where(eq(runs.id, id)))),
    /**
     * The run, once no transaction holds its account: a COMMIT on its way is waited for. On SQLite
     * none is, and a transaction that changes nothing would pass for storage that takes writes.
     */
    findCommitted: ({ id, accountId }: Pick<RunRow, 'id' | 'accountId'>) => {
      const found = eq(runs.id, id)
      if (db.exclusive) return db.read((q) => first(q.select().from(runs).where(found)))
      return db.write(function* (q): Work<RunRow | undefined> {
        yield* lockFound(accounts, { id: [accountId] })
        return yield* first(q.select().from(runs).where(found))
      })
    },
    /** Newest first. */
    list: (keyIds: string[], filter: RunFilter & Since, page: PageRequest): Promise<Page<RunRow>> =>
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
    /**
     * Some runs without an end whose node is not alive: its lease ran out, or it never had one.
     * `now` is the time of leases.
     * Where this process owns the file, no other node is alive.
     */
    abandoned: (now: Millis, limit: number): Promise<RunRow[]> =>
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
        // The order of their index: any other reads all that are open, for every few of them.
        const found = yield* rows(open.orderBy(runs.node).limit(limit))
        return found.sort((a, b) => (a.id < b.id ? -1 : 1))
      }),
    /** The runs without an end that name this process. */
    openHere: (): Promise<{ id: string }[]> =>
      db.read((q) => {
        const own = and(isNull(runs.finishedAt), eq(runs.node, node))
        return rows(q.select({ id: runs.id }).from(runs).where(own))
      }),
    /** The digests (hex) of the runs among `ids` that ended, by id. */
    digests: async (ids: readonly string[]): Promise<Map<string, string>> => {
      const found = new Map<string, string>()
      const { id, digest } = runs
      for (let i = 0; i < ids.length; i += readBatch) {
        const some = inArray(id, ids.slice(i, i + readBatch))
        const page = await db.read((q) => rows(q.select({ id, digest }).from(runs).where(some)))
        for (const row of page) if (row.digest) found.set(row.id, toHex(row.digest))
      }
      return found
    },
    /** Forgets the outputs of background runs that were kept long enough. */
    dropOutputs: async (now: Millis): Promise<void> => {
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
