/** Reads the receipts of an account or of a branch in pages of bounded cost. */
import { and, desc, eq, gte, inArray, lt, lte, sql } from 'drizzle-orm'
import type { KeyScope } from '../../../kernel/acting.ts'
import { type PageRequest, sortedMax, toPage } from '../../../kernel/pagination.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { runColumns } from '../../../storage/db/schema/run-columns.ts'
import type { EndedRun } from '../../../storage/db/schema/schema.ts'
import { endsWith } from '../../../storage/db/sql/begins-with.ts'
import { isNewestOf, keysOfBranch } from '../../../storage/db/sql/branch-runs.ts'
import { costliestIds } from '../../../storage/db/sql/costliest.ts'
import { first, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { receiptIdOf, runIdOf } from '../receipt.ts'
import {
  type ListedReceipts,
  passedMax,
  type ReceiptFilter,
  type ReceiptStore,
} from '../receipts.ts'

export function shownReceipts(db: Db): Pick<ReceiptStore, 'listShown' | 'listCostliest'> {
  const { runs, shares, keys } = db.tables
  // The output of a background run can be large, and no list shows it.
  const { output: _, ...columns } = runColumns(db)

  /** By run: all receipts, or the private ones. */
  function* byRun(q: Query, whose: KeyScope, filter: ReceiptFilter, page: PageRequest) {
    const after = page.after === undefined ? undefined : lt(runs.id, runIdOf(page.after))
    const isNarrow = [filter.model, filter.end].some(Boolean) || filter.visibility === 'private'
    const bounds = and(among(filter), after)
    const keyIds = yield* keysOfBranch(q, db.tables, whose.branch)
    const most = isNarrow ? passedMax : page.limit + 1
    const own = keyIds
      ? isNewestOf(db.tables, keyIds, bounds, most)
      : and(eq(runs.accountId, whose.account), bounds)
    const order = q.select({ id: runs.id }).from(runs).where(own).orderBy(desc(runs.id))
    const stop = isNarrow ? yield* first(order.limit(1).offset(passedMax - 1)) : undefined
    const listed = and(own, stop && gte(runs.id, stop.id), matching(filter))
    const found = q.select(columns).from(runs).where(listed).orderBy(desc(runs.id))
    return listedOf(yield* rows(found.limit(page.limit + 1)), page.limit, stop?.id)
  }
  const among = ({ since, upTo }: ReceiptFilter) =>
    and(gte(runs.id, since), upTo === undefined ? undefined : lte(runs.id, upTo))

  /** The condition of a filter on runs, except for filters on shares. */
  const matching = ({ model, visibility, end }: ReceiptFilter) => {
    const share = sql`(select 1 from ${shares} where ${shares.receiptId} = ${receiptIdColumn})`
    return and(
      model === undefined ? undefined : eq(runs.model, model),
      end ? endsWith(runs.id, end) : undefined,
      visibility === 'private' ? sql`not exists ${share}` : undefined,
    )
  }
  const receiptIdColumn = sql`'rcpt_' || substr(${runs.id}, 5)`
  const runIdColumn = sql<string>`'run_' || substr(${shares.receiptId}, 6)`

  /** By share: the receipts that others see, a small part. */
  function* byShare(
    q: Query,
    whose: KeyScope,
    filter: ReceiptFilter & { visibility: 'unlisted' | 'public' },
    page: PageRequest,
  ) {
    const after = page.after === undefined ? undefined : lt(shares.receiptId, page.after)
    const { since, upTo, end } = filter
    const own = and(
      eq(shares.accountId, whose.account),
      gte(shares.receiptId, receiptIdOf(since)),
      upTo === undefined ? undefined : lte(shares.receiptId, receiptIdOf(upTo)),
      after,
    )
    const order = q.select({ id: shares.receiptId }).from(shares).where(own)
    const passed = order
      .orderBy(desc(shares.receiptId))
      .limit(1)
      .offset(passedMax - 1)
    const stop = yield* first(passed)
    const listed = and(
      own,
      stop && gte(shares.receiptId, stop.id),
      eq(shares.visibility, filter.visibility),
      filter.model === undefined ? undefined : eq(runs.model, filter.model),
      end ? endsWith(shares.receiptId, end) : undefined,
      whose.branch === undefined ? undefined : eq(keys.branch, whose.branch),
    )
    const joined = q
      .select(columns)
      .from(shares)
      .innerJoin(runs, sql`${runs.id} = ${runIdColumn}`)
      .leftJoin(keys, eq(keys.id, runs.keyId))
    const found = joined
      .where(listed)
      .orderBy(desc(shares.receiptId))
      .limit(page.limit + 1)
    return listedOf(yield* rows(found), page.limit, stop && runIdOf(stop.id))
  }

  /** The newest runs that have a share of this visibility, as many as are sorted. */
  const sharedRuns = (q: Query, { account }: KeyScope, visibility: 'unlisted' | 'public') => {
    const own = and(eq(shares.accountId, account), eq(shares.visibility, visibility))
    const found = q
      .select({ id: runIdColumn.as('id') })
      .from(shares)
      .where(own)
    const newest = found.orderBy(desc(shares.receiptId)).limit(sortedMax).as('shared')
    return inArray(runs.id, q.select({ id: newest.id }).from(newest))
  }

  return {
    listCostliest: (whose, filter, limit) =>
      db.read(function* (q): Work<ListedReceipts> {
        const { visibility } = filter
        const keyIds = yield* keysOfBranch(q, db.tables, whose.branch)
        const bounds = among(filter)
        const own = keyIds
          ? isNewestOf(db.tables, keyIds, bounds, sortedMax)
          : and(eq(runs.accountId, whose.account), bounds)
        const isShared = visibility === 'unlisted' || visibility === 'public'
        const within = isShared ? and(own, sharedRuns(q, whose, visibility)) : own
        const ids = yield* costliestIds(q, runs, within, matching(filter), limit)
        const found = yield* rows(q.select(columns).from(runs).where(inArray(runs.id, ids)))
        const sorted = found.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
        return { ...listedOf(sorted, limit, undefined), next: undefined }
      }),
    listShown: (whose, filter, page) =>
      db.read(function* (q): Work<ListedReceipts> {
        const { visibility } = filter
        if (visibility === undefined || visibility === 'private') {
          return yield* byRun(q, whose, filter, page)
        }
        return yield* byShare(q, whose, { ...filter, visibility }, page)
      }),
  }
}

/** `stop` is the last run read, if the query did not reach the end. */
function listedOf(
  found: Omit<EndedRun, 'output'>[],
  limit: number,
  stop: string | undefined,
): ListedReceipts {
  const { items, hasMore } = toPage(found, limit)
  const ended = items.map((run) => ({ ...run, output: null }))
  const last = hasMore ? items.at(-1)?.id : stop
  return { items: ended, next: last === undefined ? undefined : receiptIdOf(last) }
}
