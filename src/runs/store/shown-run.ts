/** Reads an account's runs in pages of bounded cost. */
import {
  type AnyColumn,
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  ne,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { KeyScope } from '../../kernel/acting.ts'
import { runIdsFrom } from '../../kernel/id-part.ts'
import { firstIdAt } from '../../kernel/ids.ts'
import { sortedMax, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { runColumns } from '../../storage/db/schema/run-columns.ts'
import type { EndedRun, RunRow, Tables } from '../../storage/db/schema/schema.ts'
import { endsWith } from '../../storage/db/sql/begins-with.ts'
import { isNewestOf, keysOfBranch } from '../../storage/db/sql/branch-runs.ts'
import { costliestIds } from '../../storage/db/sql/costliest.ts'
import { inKeyScope } from '../../storage/db/sql/key-scope.ts'
import { first, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import type { TagFilter } from '../run.ts'
import {
  hasTag,
  passedMax,
  type ShownFilter,
  type ShownPage,
  type ShownRun,
  type ShownRuns,
} from '../shown-run.ts'
import { openRunReads, withEnded } from './open-run.ts'

/** The most that the time in an id and the time in its row may differ, in ms. */
const idSlackMs = 60_000

/** Most rows that a tag of another value may hide from the next run. */
const nearMax = 20

/** Selects runs with their keys. A background run's output can be large, and no list shows it. */
function selectShown(db: Db) {
  const { runs, keys } = db.tables
  const { output: _, ...columns } = runColumns(db)
  return (q: Query) =>
    q
      .select({ run: columns, keyName: keys.name, branch: keys.branch })
      .from(runs)
      .leftJoin(keys, eq(keys.id, runs.keyId))
}

/** `mark` is what the ids of this shard begin with. */
export function shownRuns(db: Db, mark = ''): ShownRuns {
  const { runs, keys } = db.tables
  const open = openRunReads(db)
  const select = selectShown(db)

  const scopeOf = (q: Query, whose: KeyScope) => scopeIn(q, db.tables, whose, mark)
  const running = (q: Query, scope: Scope, filter: ShownFilter, ends: PageEnds) =>
    runningOf(q, db.tables, open, { scope, filter, ends })

  return {
    listShown: (whose, filter, page) =>
      db.read(function* (q): Work<ShownPage> {
        const scope = yield* scopeOf(q, whose)
        const stop = yield* lastPassed(q, runs, scope, filter, page.after)
        const opened = yield* running(q, scope, filter, { after: page.after, stop })
        const most = page.limit + 1
        const ends = { after: page.after, stop, most }
        const fits = and(within(runs, scope, filter, ends), matching(runs, filter))
        const ended = yield* rows(select(q).where(fits).orderBy(desc(runs.id)).limit(most))
        const found = withEnded(opened.map(byId), ended.map(byId))
        const { items, hasMore } = toPage(found, page.limit)
        const shown = items.map(shownOf).filter(({ run }) => hasTag(run, filter.tag))
        const next = hasMore ? items.at(-1)?.run.id : stop
        return { items: shown, next }
      }),
    listCostliest: (whose, filter, limit) =>
      db.read(function* (q): Work<ShownPage> {
        const scope = yield* scopeOf(q, whose)
        const read = within(runs, scope, filter, { most: sortedMax })
        const ids = yield* costliestIds(q, runs, read, matching(runs, filter), limit)
        const found = yield* rows(select(q).where(inArray(runs.id, ids)))
        const placed = found.toSorted((a, b) => ids.indexOf(a.run.id) - ids.indexOf(b.run.id))
        const items = placed.map(shownOf).filter(({ run }) => hasTag(run, filter.tag))
        return { items, next: undefined }
      }),
    newerThan: (whose, filter, since, most) =>
      db.read(function* (q): Work<{ id: string }[]> {
        const scope = yield* scopeOf(q, whose)
        const stop = yield* lastPassed(q, runs, scope, filter)
        const named = q.select({ id: runs.id }).from(runs)
        const from = stop && stop > since ? stop : since
        const newest = within(runs, scope, filter, { stop: from, most: most + 1 })
        const opened = (yield* running(q, scope, filter, { stop: since }))
          .filter(({ run }) => run.id !== since)
          .map(({ run }) => ({ id: run.id }))
        const found = named.where(and(newest, ne(runs.id, since), matching(runs, filter)))
        const ended = yield* rows(found.orderBy(desc(runs.id)).limit(most))
        return withEnded(opened, ended).slice(0, most)
      }),
    nextNewer: (whose, filter, since) =>
      db.read(function* (q): Work<string | undefined> {
        const scope = yield* scopeOf(q, whose)
        const ended = yield* endedAfter(q, runs, scope, filter, since)
        const opened = (yield* running(q, scope, filter, { stop: since })).map(byId)
        return [...ended, ...opened.map(({ id }) => id)].filter((id) => id > since).sort()[0]
      }),
    findShown: (whose, id) =>
      db.read(function* (q): Work<ShownRun | undefined> {
        const [running] = yield* namedOf(q, keys, [yield* open.find(q, id)])
        const found = (yield* first(select(q).where(eq(runs.id, id)))) ?? running
        return found && isFound(found, whose) ? shownOf(found) : undefined
      }),
    endedAmong: (whose, ids) =>
      db.read(function* (q): Work<ShownRun<EndedRun>[]> {
        const found = yield* rows(select(q).where(inArray(runs.id, [...ids])))
        return found.flatMap((one) => (isFound(one, whose) ? [toShown(one.run, one.keyName)] : []))
      }),
    keysToChoose: (whose, limit) => db.read((q) => rows(keysOf(q, keys, whose).limit(limit))),
  }
}

type ListRequest = { scope: Scope; filter: ShownFilter; ends: PageEnds }

/** The open runs of a list, with the names of their keys. */
function* runningOf(
  q: Query,
  { openRuns, keys }: Tables,
  open: ReturnType<typeof openRunReads>,
  { scope, filter, ends }: ListRequest,
): Work<FoundRun[]> {
  const isOwn = eq(openRuns.accountId, scope.account)
  const fits = (run: RunRow) => isListed(run, scope, filter, ends)
  return yield* namedOf(q, keys, yield* open.matching(q, isOwn, fits))
}

/** Open runs with the names of their keys. */
function* namedOf(q: Query, keys: Tables['keys'], found: (RunRow | undefined)[]): Work<FoundRun[]> {
  const opened = found.filter((run) => run !== undefined)
  if (opened.length === 0) return []
  const { id, name, branch } = keys
  const ids = [...new Set(opened.map(({ keyId }) => keyId))]
  const listed = yield* rows(q.select({ id, name, branch }).from(keys).where(inArray(id, ids)))
  const known = new Map(listed.map((key) => [key.id, key]))
  return opened.map((run) => {
    const key = known.get(run.keyId)
    return { run, keyName: key?.name ?? null, branch: key?.branch ?? null }
  })
}

/** The last run that one query may read; undefined if it reaches the end. */
function* lastPassed(
  q: Query,
  runs: Runs,
  scope: Scope,
  filter: ShownFilter,
  after?: string,
): Work<string | undefined> {
  if (!isNarrow(filter)) return undefined
  const order = q
    .select({ id: runs.id })
    .from(runs)
    .where(within(runs, scope, filter, { after, most: passedMax }))
    .orderBy(desc(runs.id))
  return (yield* first(order.limit(1).offset(passedMax - 1)))?.id
}

/** The first runs that ended and are newer than `since`, the oldest first. */
function* endedAfter(
  q: Query,
  runs: Runs,
  scope: Scope,
  filter: ShownFilter,
  since: string,
): Work<string[]> {
  const some = () => q.select({ id: runs.id, tags: runs.tags }).from(runs)
  const ends = { stop: since, most: passedMax }
  const newer = and(within(runs, scope, filter, ends), ne(runs.id, since))
  const far = some().where(newer).orderBy(asc(runs.id)).limit(1).offset(passedMax)
  const last = isNarrow(filter) ? (yield* first(far))?.id : undefined
  const fits = and(newer, last === undefined ? undefined : lt(runs.id, last))
  const near = some().where(and(fits, matching(runs, filter)))
  const found = yield* rows(near.orderBy(asc(runs.id)).limit(nearMax))
  return found.filter((run) => hasTag(run, filter.tag)).map(({ id }) => id)
}

/** Keys that are not revoked, newest first. */
const keysOf = (q: Query, keys: Tables['keys'], whose: KeyScope) =>
  q
    .select({ id: keys.id, name: keys.name })
    .from(keys)
    .where(and(inKeyScope(keys, whose), isNull(keys.revokedAt)))
    .orderBy(desc(keys.id))

/** Runs with an id below `after` and from `stop` on. */
type PageEnds = { after?: string | undefined; stop?: string | undefined }

/** An account, of a branch the ids of its keys, and what ids of this shard begin with. */
type Scope = { account: string; keyIds: ReadonlySet<string> | undefined; mark: string }

function* scopeIn(
  q: Query,
  tables: Tables,
  { account, branch }: KeyScope,
  mark: string,
): Work<Scope> {
  const keyIds = yield* keysOfBranch(q, tables, branch)
  return { account, keyIds: keyIds && new Set(keyIds), mark }
}

type Runs = Tables['runs']

/** Bounds the ids to read. An index has one lower bound: the latest of them is used. */
function within(
  runs: Runs,
  { account, keyIds, mark }: Scope,
  filter: ShownFilter,
  { after, stop = '', most }: PageEnds & { most: number },
) {
  const { keyId, from, to, ids } = filter
  const begin = from === undefined ? '' : firstIdAt('run', Math.max(0, from - idSlackMs), mark)
  const named = ids && runIdsFrom(ids.start)
  const least = [begin, stop, named?.least ?? ''].reduce((a, b) => (a > b ? a : b))
  const bounds = and(
    after === undefined ? undefined : lt(runs.id, after),
    named && lte(runs.id, named.last),
    least === '' ? undefined : gte(runs.id, least),
    to === undefined ? undefined : lt(runs.id, firstIdAt('run', to + idSlackMs, mark)),
  )
  // The key is known to belong to the account or branch, and the index by key is narrower.
  if (keyId !== undefined) return and(eq(runs.keyId, keyId), bounds)
  if (!keyIds) return and(eq(runs.accountId, account), bounds)
  const narrow = isNarrow(filter)
  const listed = narrow ? bounds : and(bounds, matching(runs, filter))
  const read = narrow ? Math.max(passedMax, most) : most
  return and(isNewestOf({ runs }, [...keyIds], listed, read), bounds)
}

function matching(runs: Runs, { status, model, tag, from, to, ids }: ShownFilter) {
  return and(
    ids?.end ? endsWith(runs.id, ids.end) : undefined,
    status === undefined ? undefined : eq(runs.status, status),
    model === undefined ? undefined : eq(runs.model, model),
    tag === undefined ? undefined : tagLike(runs.tags, tag),
    from === undefined ? undefined : gte(runs.createdAt, from),
    to === undefined ? undefined : lt(runs.createdAt, to),
  )
}

/** Applies `within` and `matching` to an open run. */
function isListed(
  run: RunRow,
  { account, keyIds }: Scope,
  filter: ShownFilter,
  { after, stop }: PageEnds,
): boolean {
  const { keyId, status, model, tag, from, to, ids } = filter
  return (
    run.accountId === account &&
    (keyIds === undefined || keyIds.has(run.keyId)) &&
    (keyId === undefined || run.keyId === keyId) &&
    (after === undefined || run.id < after) &&
    (stop === undefined || run.id >= stop) &&
    (status === undefined || run.status === status) &&
    (model === undefined || run.model === model) &&
    hasTag(run, tag) &&
    (ids === undefined || (run.id.startsWith(`run_${ids.start}`) && run.id.endsWith(ids.end))) &&
    (from === undefined || run.createdAt >= from) &&
    (to === undefined || run.createdAt < to)
  )
}

/** Whether a filter may skip many runs; a time, a key or the start of an id alone never does. */
const isNarrow = ({ status, model, tag, ids }: ShownFilter): boolean =>
  status !== undefined || model !== undefined || tag !== undefined || Boolean(ids?.end)

/**
 * Matches every run with the tag and some without: tags are JSON text, SQLite ignores case, and
 * the name may end a longer one. {@link hasTag} filters the rest.
 */
function tagLike(tags: AnyColumn, { name, value }: TagFilter): SQL {
  const pair = value === undefined ? JSON.stringify(name) : JSON.stringify({ [name]: value })
  const part = value === undefined ? pair : pair.slice(1, -1)
  return sql`${tags} like ${`%${part.replace(/[%_|]/g, '|$&')}%`} escape '|'`
}

type FoundRun = { run: Omit<RunRow, 'output'>; keyName: string | null; branch: string | null }

const isFound = ({ run, branch: branchOf }: FoundRun, { account, branch }: KeyScope): boolean =>
  run.accountId === account && (branch === undefined || branchOf === branch)

const byId = (found: FoundRun): FoundRun & { id: string } => ({ ...found, id: found.run.id })

const shownOf = ({ run, keyName }: FoundRun): ShownRun => toShown(run, keyName)

const toShown = <R extends { keyId: string }>(run: R, keyName: string | null) => ({
  run: { ...run, output: null },
  keyName: keyName ?? run.keyId,
})
