/** Reads an account's runs in pages of bounded cost. */
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
import { toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/db.ts'
import { first, type Query, rows, type Work } from '../../storage/db/query-steps.ts'
import type { RunRow, Tables } from '../../storage/db/schema.ts'
import {
  hasTag,
  passedMax,
  type ShownFilter,
  type ShownPage,
  type ShownRun,
  type ShownRuns,
  type TagFilter,
} from '../shown-run.ts'

/** The most that the time in an id and the time in its row may differ, in ms. */
const idSlackMs = 60_000

export function shownRuns(db: Db): ShownRuns {
  const { runs, keys } = db.tables
  // The output of a background run can be large, and no list shows it.
  const { output: _, ...columns } = getTableColumns(runs)

  const select = (q: Query) =>
    q
      .select({ run: columns, keyName: keys.name })
      .from(runs)
      .leftJoin(keys, eq(keys.id, runs.keyId))

  /** The last run that one query may read; undefined if it reaches the end. */
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
    listShown: (account, filter, page) =>
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
    newerThan: (account, filter, since, most) =>
      db.read(function* (q): Work<{ id: string }[]> {
        const stop = yield* lastPassed(q, account, filter, undefined)
        const named = q.select({ id: runs.id }).from(runs)
        const newest = within(runs, account, filter, { stop: stop && stop > since ? stop : since })
        const found = named.where(and(newest, ne(runs.id, since), matching(runs, filter)))
        return yield* rows(found.orderBy(desc(runs.id)).limit(most))
      }),
    findShown: (account, id) =>
      db.read(function* (q): Work<ShownRun | undefined> {
        const found = yield* first(select(q).where(eq(runs.id, id)))
        return found?.run.accountId === account ? toShown(found) : undefined
      }),
    endedAmong: (account, ids) =>
      db.read(function* (q): Work<ShownRun[]> {
        if (ids.length === 0) return []
        const found = yield* rows(select(q).where(inArray(runs.id, [...ids])))
        const own = found.filter(({ run }) => run.accountId === account && run.finishedAt !== null)
        return own.map(toShown)
      }),
    keysToChoose: (account, limit) =>
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

/** Bounds the ids to read. An index has one lower bound: the later of the two is used. */
function within(runs: Runs, account: string, filter: ShownFilter, { after, stop = '' }: Ends) {
  const { keyId, from, to } = filter
  const begin = from === undefined ? '' : firstIdAt('run', Math.max(0, from - idSlackMs))
  const least = begin > stop ? begin : stop
  return and(
    // The key is known to belong to the account, and the index by key is narrower.
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

/** Whether a filter may skip many runs; a time or a key alone never does. */
const isNarrow = ({ status, model, tag }: ShownFilter): boolean =>
  status !== undefined || model !== undefined || tag !== undefined

/**
 * Matches every run with the tag and some without: tags are JSON text, SQLite ignores case, and
 * the name may end a longer one. {@link hasTag} filters the rest.
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
