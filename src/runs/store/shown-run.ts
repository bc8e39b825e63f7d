import {
  type AnyColumn,
  and,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  isNull,
  lt,
  ne,
  type SQL,
  sql,
} from 'drizzle-orm'
import { firstIdAt } from '../../kernel/ids.ts'
import { type PageRequest, toPage } from '../../kernel/pagination.ts'
import { type Db, first, type Query, rows, type Work } from '../../storage/db/db.ts'
import type { RunRow, Tables } from '../../storage/db/schema.ts'
import {
  hasTag,
  passedMax,
  type ShownFilter,
  type ShownPage,
  type ShownRun,
  type TagFilter,
} from '../shown-run.ts'

/** An id is made up to this long before or after the time that stands in its row, in ms. */
const idSlackMs = 60_000

/** An account's runs for its owner: no reading goes through all of them, however rare a match. */
export function shownRuns(db: Db) {
  const { runs, keys } = db.tables
  // What a background run said can be large, and no list shows it.
  const { output: _, ...columns } = getTableColumns(runs)

  const select = (q: Query) =>
    q
      .select({ run: columns, keyName: keys.name })
      .from(runs)
      .leftJoin(keys, eq(keys.id, runs.keyId))

  /** The last run that one reading gets to; undefined where it gets to the end. */
  function* lastPassed(q: Query, account: string, filter: ShownFilter, after: string | undefined) {
    if (!isNarrow(filter)) return undefined
    const order = q
      .select({ id: runs.id })
      .from(runs)
      .where(within(runs, account, filter, { after }))
      .orderBy(desc(runs.id))
    return (yield* first(order.limit(1).offset(passedMax - 1)))?.id
  }

  return {
    /** One page of an account's runs, newest first; with a filter it may hold less and go on. */
    listShown: (account: string, filter: ShownFilter, page: PageRequest): Promise<ShownPage> =>
      db.read(function* (q): Work<ShownPage> {
        const stop = yield* lastPassed(q, account, filter, page.after)
        const found = yield* rows(
          select(q)
            .where(
              and(
                within(runs, account, filter, { after: page.after, stop }),
                matching(runs, filter),
              ),
            )
            .orderBy(desc(runs.id))
            .limit(page.limit + 1),
        )
        const { items, hasMore } = toPage(found, page.limit)
        const shown = items.map(toShown).filter(({ run }) => hasTag(run, filter.tag))
        const next = hasMore ? items.at(-1)?.run.id : stop
        return { items: shown, next }
      }),
    /** The ids of those that came after one, newest first; at most `most`. */
    newerThan: (
      account: string,
      filter: ShownFilter,
      since: string,
      most: number,
    ): Promise<{ id: string }[]> =>
      db.read(function* (q): Work<{ id: string }[]> {
        const stop = yield* lastPassed(q, account, filter, undefined)
        const named = q.select({ id: runs.id }).from(runs)
        const newest = within(runs, account, filter, { stop: stop && stop > since ? stop : since })
        const found = named.where(and(newest, ne(runs.id, since), matching(runs, filter)))
        return yield* rows(found.orderBy(desc(runs.id)).limit(most))
      }),
    /** A run of an account; undefined also for one of another. */
    findShown: (account: string, id: string): Promise<ShownRun | undefined> =>
      db.read(function* (q): Work<ShownRun | undefined> {
        const found = yield* first(select(q).where(eq(runs.id, id)))
        return found?.run.accountId === account ? toShown(found) : undefined
      }),
    /** Those of some runs of an account that have ended. */
    endedAmong: (account: string, ids: readonly string[]): Promise<ShownRun[]> =>
      db.read(function* (q): Work<ShownRun[]> {
        if (ids.length === 0) return []
        const found = yield* rows(select(q).where(inArray(runs.id, [...ids])))
        const own = found.filter(({ run }) => run.accountId === account && run.finishedAt !== null)
        return own.map(toShown)
      }),
    /** Keys of an account to choose from, the newest first; revoked ones are found by their id. */
    keysToChoose: (account: string, limit: number): Promise<{ id: string; name: string }[]> =>
      db.read((q) => {
        const listed = and(eq(keys.accountId, account), isNull(keys.revokedAt))
        const named = q.select({ id: keys.id, name: keys.name }).from(keys).where(listed)
        return rows(named.orderBy(desc(keys.id)).limit(limit))
      }),
  }
}

/** Runs with an id below `after` and from `stop` on. */
type Ends = { after?: string | undefined; stop?: string | undefined }

type Runs = Tables['runs']

/** Both ends of what is read. An index takes one beginning: the later of two is named. */
function within(runs: Runs, account: string, filter: ShownFilter, { after, stop = '' }: Ends) {
  const { keyId, from, to } = filter
  const begin = from === undefined ? '' : firstIdAt('run', Math.max(0, from - idSlackMs))
  const least = begin > stop ? begin : stop
  return and(
    // The account of a chosen key was checked: the index of a key's runs is the narrower one.
    keyId === undefined ? eq(runs.accountId, account) : eq(runs.keyId, keyId),
    after === undefined ? undefined : lt(runs.id, after),
    least === '' ? undefined : gte(runs.id, least),
    to === undefined ? undefined : lt(runs.id, firstIdAt('run', to + idSlackMs)),
  )
}

function matching(runs: Runs, { status, model, tag, from, to }: ShownFilter) {
  return and(
    status === undefined ? undefined : eq(runs.status, status),
    model === undefined ? undefined : eq(runs.model, model),
    tag === undefined ? undefined : tagLike(runs.tags, tag),
    from === undefined ? undefined : gte(runs.createdAt, from),
    to === undefined ? undefined : lt(runs.createdAt, to),
  )
}

/** Whether a filter may pass over many runs; a time or a key alone never does. */
const isNarrow = ({ status, model, tag }: ShownFilter): boolean =>
  status !== undefined || model !== undefined || tag !== undefined

/**
 * At least the runs that have a tag: tags are JSON text, SQLite compares without case, and the
 * name may be the end of a longer one. {@link hasTag} tells them apart.
 */
function tagLike(tags: AnyColumn, { name, value }: TagFilter): SQL {
  const pair = value === undefined ? JSON.stringify(name) : JSON.stringify({ [name]: value })
  const part = value === undefined ? pair : pair.slice(1, -1)
  return sql`${tags} like ${`%${part.replace(/[%_|]/g, '|$&')}%`} escape '|'`
}

type Found = { run: Omit<RunRow, 'output'>; keyName: string | null }

const toShown = ({ run, keyName }: Found): ShownRun => ({
  run: { ...run, output: null },
  keyName: keyName ?? run.keyId,
})
