/** An account's runs in the browser: their list, each of them, and the way to cancel one. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../access/accounts/needs-session.ts'
import { accountListedSince } from '../access/plan-history.ts'
import type { Deps } from '../app/deps-port.ts'
import { isId } from '../kernel/ids.ts'
import { toListView } from '../kernel/pagination.ts'
import { Refusal, refuse } from '../kernel/refusal.ts'
import type { SessionRow } from '../storage/db/schema.ts'
import {
  addressOf,
  queryOf,
  readPage,
  readText,
  tidyAddress,
  withoutEmpty,
} from '../web/http/query.ts'
import type { SseContext } from '../web/http/sse.ts'
import type { Frame } from '../web/ui/frame.ts'
import { shortId } from '../web/ui/hash.tsx'
import { type Markup, renderChild } from '../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../web/ui/layout.tsx'
import { pushAddress, reply } from '../web/ui/reply.ts'
import { followRows, newsMax, type Rows, shownIn } from './api/follow-rows.ts'
import { filterQuery, readFilter, readRunId } from './api/list-query.ts'
import { followAccount, type Look } from './api/live.ts'
import { cancelRun } from './cancel.ts'
import { followReceipts } from './portal/receipts-live.ts'
import { runsAsCsv } from './portal/run-csv.ts'
import { RunPage } from './portal/run-detail.tsx'
import {
  csvPath,
  isFollowed,
  RunsPage,
  RunsPanel,
  type RunsView,
  rowOf,
  runsPath,
} from './portal/run-list.tsx'
import { markOf, runPath } from './portal/run-state.tsx'
import { readReceiptStates } from './receipt-state.ts'
import { toRunView } from './run-view.ts'
import { isInFlight, type ShownFilter, type ShownPage, type ShownRun } from './shown-run.ts'

/** The most keys in the filter form's list. */
const keysMax = 100

export const runsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'runs-portal' })
    .use(sessionAuth(deps))
    .get(
      runsPath,
      async ({ request, set, account }) => {
        const query = queryOf(request)
        const tidy = tidyAddress(runsPath, query)
        if (tidy !== undefined && !isHtmx(request)) {
          set.status = 303
          set.headers['location'] = tidy
          return ''
        }
        const view = await viewOf(deps, account, query)
        if (isHtmx(request)) pushAddress({ request, set }, tidy ?? addressOf(runsPath, query))
        const main = <RunsPage view={view} />
        const shown = { frame, title: 'Runs', here: runsPath, account, main }
        const page = dashboardPage({ ...shown, scripts: isFollowed(view) ? ['live-list'] : [] })
        const status = view.refusal ? { status: view.refusal.status } : {}
        return reply({ request, set }, { page, fragment: <RunsPanel view={view} />, ...status })
      },
      { needsSession: 'page' },
    )
    .get(
      csvPath,
      async ({ request, set, account }) => {
        const { items } = await readList(deps, account, queryOf(request))
        set.headers['content-type'] = 'text/csv; charset=utf-8'
        set.headers['content-disposition'] = 'attachment; filename="counterfoil-runs.csv"'
        return runsAsCsv(items)
      },
      { needsSession: 'page' },
    )
    .get(
      `${runsPath}/:id`,
      async ({ request, set, account, params }) => {
        const shown = await findOwn(deps, account, params.id)
        const page = runPage(frame, account, shown, await detail(deps, shown))
        return reply({ request, set }, { page })
      },
      { needsSession: 'page' },
    )
    .get(
      '/api/portal/runs',
      async ({ request, set, account }) => {
        if (isHtmx(request)) {
          const view = await viewOf(deps, account, queryOf(request))
          if (view.refusal) throw view.refusal
          return reply(
            { request, set },
            { fragment: <RunsPanel view={view} />, seeOther: runsPath },
          )
        }
        const { items, next } = await readList(deps, account, queryOf(request))
        const list = toListView({
          items: items.map(({ run }) => toRunView(run)),
          hasMore: next !== undefined,
        })
        // A filtered page may end before the last match: the next one continues there.
        return { ...list, last_id: next ?? list.last_id }
      },
      { needsSession: 'action' },
    )
    .get(
      '/api/portal/runs/live',
      async ({ request, server, set, session }) =>
        followList(deps, { request, server, set }, session),
      { needsSession: 'action' },
    )
    .get(
      '/api/portal/receipts/live',
      async ({ request, server, set, session }) =>
        followReceipts(deps, { request, server, set }, session),
      { needsSession: 'action' },
    )
    .get(
      '/api/portal/runs/:id',
      async ({ request, set, account, params }) => {
        const shown = await findOwn(deps, account, params.id)
        if (!isHtmx(request)) return toRunView(shown.run)
        const fragment = await detail(deps, shown)
        return reply({ request, set }, { fragment, seeOther: runPath(shown.run.id) })
      },
      { needsSession: 'action' },
    )
    .get(
      '/api/portal/runs/:id/live',
      async ({ request, server, set, session, params }) => {
        const { run } = await findOwn(deps, session.accountId, params.id)
        const mark = readText(queryOf(request), 'mark')
        const look = () => lookAtRun(deps, session.accountId, run.id)
        return followAccount(deps, { context: { request, server, set }, session, mark, look })
      },
      { needsSession: 'action' },
    )
    .post(
      '/api/portal/runs/:id/cancel',
      async ({ request, set, account, params }) => {
        const { run } = await findOwn(deps, account, params.id)
        const cancelled = await cancelRun(deps, run).catch(conflictOf)
        if (wantsJson(request)) {
          if (cancelled instanceof Refusal) throw cancelled
          return toRunView(cancelled)
        }
        const shown = await findOwn(deps, account, run.id)
        if (cancelled instanceof Refusal) {
          const main = await detail(deps, shown, cancelled.message)
          const page = runPage(frame, account, shown, main)
          return reply({ request, set }, { page, status: cancelled.status })
        }
        const fragment = await detail(deps, shown)
        const done = { what: 'run_stopped' } as const
        return reply({ request, set }, { fragment, seeOther: runPath(run.id), done })
      },
      { needsSession: 'action', parse: 'none' },
    )

const isHtmx = ({ headers }: Request): boolean => headers.get('hx-request') === 'true'

function runPage(frame: Frame, account: string, shown: ShownRun, main: Markup) {
  const scripts = isInFlight(shown.run) ? ['hx-sse'] : []
  const title = `Run ${shortId(shown.run.id)}`
  return dashboardPage({ frame, title, here: runsPath, account, main, scripts })
}

/** A run that has already ended is shown with the reason why it was not cancelled. */
function conflictOf(error: unknown): Refusal {
  if (error instanceof Refusal && error.type === 'conflict') return error
  throw error
}

/** @throws Refusal 'not_found', also for runs of other accounts. */
async function findOwn({ runs }: Deps, account: string, id: string): Promise<ShownRun> {
  const found = isId('run', id) ? await runs.findShown(account, id) : undefined
  return found ?? refuse('not_found', 'This run does not exist.')
}

/** @throws Refusal 'invalid_request' for a filter or cursor outside the account. */
async function readList(deps: Deps, account: string, query: URLSearchParams): Promise<ShownPage> {
  const filter = await ownFilter(deps, account, query)
  const page = readPage(withoutEmpty(query))
  const id = readRunId(query)
  if (id !== undefined) {
    const found = await deps.runs.findShown(account, id)
    return { items: found ? [found] : [], next: undefined }
  }
  const isKnown =
    page.after === undefined ||
    (isId('run', page.after) && (await deps.runs.findShown(account, page.after)))
  if (!isKnown) refuse('invalid_request', { message: 'This run does not exist.', param: 'after' })
  const since = await accountListedSince(deps, account)
  const from = Math.max(filter.from ?? 0, since)
  return deps.runs.listShown(account, { ...filter, from }, page)
}

async function ownFilter(
  deps: Deps,
  account: string,
  query: URLSearchParams,
): Promise<ShownFilter> {
  const filter = readFilter(query, deps.clock.now())
  if (filter.keyId === undefined) return filter
  const key = await deps.keys.find(filter.keyId)
  if (key?.accountId === account) return filter
  refuse('invalid_request', { message: 'This key does not exist.', param: 'key' })
}

async function viewOf(deps: Deps, account: string, query: URLSearchParams): Promise<RunsView> {
  const keys = await deps.runs.keysToChoose(account, keysMax + 1)
  const view = {
    account,
    now: deps.clock.now(),
    query: filterQuery(query),
    models: deps.catalogue.list().map(({ id }) => id),
    keys: keys.length > keysMax ? undefined : keys,
    isFirst: !query.get('after'),
    after: query.get('after') || undefined,
    receiptStateOf: await readReceiptStates(deps),
  }
  try {
    return { ...view, page: await readList(deps, account, query) }
  } catch (error) {
    // The form keeps the input and shows what is wrong with it.
    if (!(error instanceof Refusal) || error.type !== 'invalid_request') throw error
    return { ...view, page: { items: [], next: undefined }, refusal: error }
  }
}

async function detail(deps: Deps, shown: ShownRun, trouble?: string) {
  const receiptStateOf = await readReceiptStates(deps)
  const mark = markOf(shown, receiptStateOf)
  const texts = isInFlight(shown.run) ? undefined : await deps.texts.find(shown.run.id)
  return <RunPage {...{ shown, receiptStateOf, mark, texts, trouble }} />
}

async function lookAtRun(deps: Deps, account: string, id: string): Promise<Look> {
  const shown = await findOwn(deps, account, id)
  const mark = markOf(shown, await readReceiptStates(deps))
  return { mark, html: renderChild(await detail(deps, shown)) }
}

/** Follows the list: runs newer than `since`, and those in `open` until they are final. */
async function followList(deps: Deps, context: SseContext, session: SessionRow) {
  const query = queryOf(context.request)
  const { accountId } = session
  const filter = await ownFilter(deps, accountId, query)
  let receiptStateOf = await readReceiptStates(deps)
  const rows: Rows<ShownRun> = {
    newer: async (since) => {
      const found = await deps.runs.newerThan(accountId, filter, since, newsMax)
      return found.map(({ id }) => id)
    },
    read: async (ids) => {
      receiptStateOf = await readReceiptStates(deps)
      const ended = await deps.runs.endedAmong(accountId, ids)
      const left = ids.filter((id) => !ended.some(({ run }) => run.id === id))
      const open = await Promise.all(left.map((id) => deps.runs.findShown(accountId, id)))
      return [...open.filter((found) => found !== undefined), ...ended]
    },
    idOf: ({ run }) => run.id,
    markOf: (shown) => markOf(shown, receiptStateOf),
    isSettled: ({ run }) => !isInFlight(run) && receiptStateOf(run) === 'final',
    draw: (shown) => rowOf(shown, receiptStateOf, deps.clock.now()),
  }
  return followRows(deps, context, session, rows, shownIn(query, 'run'))
}
