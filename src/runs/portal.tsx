/** An account's runs in the browser: their list, each of them, and the way to cancel one. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../access/accounts/needs-session.ts'
import { type ListSource, listRoutes } from '../access/accounts/portal/list-routes.tsx'
import { findOwnedKey, isKeyOf } from '../access/keys/owns.ts'
import { accountListedSince } from '../access/plan-history.ts'
import type { Deps } from '../app/deps-port.ts'
import { type Actor, type KeyScope, zoneOf } from '../kernel/acting.ts'
import { wholeRunId } from '../kernel/id-part.ts'
import { isId } from '../kernel/ids.ts'
import { Refusal, refuse } from '../kernel/refusal.ts'
import type { SessionRow } from '../storage/db/schema/schema.ts'
import { queryOf, readText } from '../web/http/query.ts'
import { filterQuery } from '../web/http/query-fields.ts'
import type { SseContext } from '../web/http/sse.ts'
import type { Frame } from '../web/ui/frame.ts'
import { shortId } from '../web/ui/hash.tsx'
import type { Markup } from '../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../web/ui/layout.tsx'
import { freshRow } from '../web/ui/list-page.tsx'
import { isHtmx, reply } from '../web/ui/reply.ts'
import { renderIn } from '../web/ui/when.tsx'
import { followRows, newsMax, type Rows, shownIn } from './api/follow-rows.ts'
import { ownRunQuery, readFilter } from './api/list-query.ts'
import { followAccount, type PartState } from './api/live.ts'
import { cancelRun } from './cancel.ts'
import { curlAgain } from './conversation.ts'
import { lookForFirst } from './portal/first-run.tsx'
import { followReceipts } from './portal/receipts-live.ts'
import { runFields } from './portal/run-csv.ts'
import { RunPage } from './portal/run-detail.tsx'
import { readDays } from './portal/run-figure.tsx'
import { runsLook, runsPath } from './portal/run-list.tsx'
import { markOf, runPath } from './portal/run-state.tsx'
import { readReceiptStates } from './receipt-state.ts'
import { toRunView } from './run-view.ts'
import { isInFlight, type ShownFilter, type ShownRun } from './shown-run.ts'

/** The most keys in the filter form's list. */
const keysMax = 100

export const runsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'runs-portal' })
    .use(
      listRoutes(deps, frame, {
        name: 'runs',
        right: 'runs:read',
        query: ownRunQuery,
        look: runsLook,
        readMore: (acting) => choicesOf(deps, acting),
        open: (acting, query) => openList(deps, acting, query),
        toView: ({ run }) => toRunView(run),
        file: runFields,
      }),
    )
    .use(sessionAuth(deps))
    .get(
      `${runsPath}/:id`,
      async ({ request, set, acting, params }) => {
        const shown = await findOwn(deps, acting, params.id)
        const main = await detail(deps, acting, shown, queryOf(request))
        return reply({ request, set }, { page: runPage(frame, acting, shown, main) })
      },
      { needsSession: { page: 'runs:read' } },
    )
    .get(
      '/api/portal/runs/live',
      async ({ request, server, set, session, acting }) =>
        followList(deps, { request, server, set }, { session, acting }),
      { needsSession: { action: 'runs:read' } },
    )
    .get(
      '/api/portal/receipts/live',
      async ({ request, server, set, session, acting }) =>
        followReceipts(deps, { request, server, set }, { session, acting }),
      { needsSession: { action: 'receipts:read' } },
    )
    .get(
      '/api/portal/runs/:id',
      async ({ request, set, acting, params }) => {
        const shown = await findOwn(deps, acting, params.id)
        if (!isHtmx(request)) return toRunView(shown.run)
        const fragment = await detail(deps, acting, shown, queryOf(request))
        return reply({ request, set }, { fragment, seeOther: runPath(shown.run.id) })
      },
      { needsSession: { action: 'runs:read' } },
    )
    .get(
      '/api/portal/runs/:id/live',
      async ({ request, server, set, session, account, acting, params }) => {
        const { run } = await findOwn(deps, acting, params.id)
        const query = queryOf(request)
        const mark = readText(query, 'mark')
        const look = () => lookAtRun(deps, acting, run.id, query)
        const context = { request, server, set }
        return followAccount(deps, { context, session, account, mark, look })
      },
      { needsSession: { action: 'runs:read' } },
    )
    .get(
      '/api/portal/keys/:id/live',
      async ({ request, server, set, session, account, acting, params }) => {
        const key = await findOwnedKey(deps, acting, params.id)
        const mark = readText(queryOf(request), 'mark')
        const look = () => lookForFirst(deps, acting, key.id)
        const context = { request, server, set }
        return followAccount(deps, { context, session, account, mark, look })
      },
      { needsSession: { action: 'runs:read' } },
    )
    .post(
      '/api/portal/runs/:id/cancel',
      async ({ request, set, acting, params }) => {
        const { run } = await findOwn(deps, acting, params.id)
        const cancelled = await cancelRun(deps, run).catch(conflictOf)
        if (wantsJson(request)) {
          if (cancelled instanceof Refusal) throw cancelled
          return toRunView(cancelled)
        }
        const shown = await findOwn(deps, acting, run.id)
        if (cancelled instanceof Refusal) {
          const main = await detail(deps, acting, shown, queryOf(request), cancelled.message)
          const page = runPage(frame, acting, shown, main)
          return reply({ request, set }, { page, status: cancelled.status })
        }
        const fragment = await detail(deps, acting, shown, queryOf(request))
        const done = { what: 'run_stopped' } as const
        return reply({ request, set }, { fragment, seeOther: runPath(run.id), done })
      },
      { needsSession: { action: 'runs:write' }, parse: 'none' },
    )

function runPage(frame: Frame, acting: Actor, shown: ShownRun, main: Markup) {
  const title = `Run ${shortId(shown.run.id)}`
  return dashboardPage({ frame, title, here: runsPath, acting, main, scripts: ['hx-sse'] })
}

/** A run that has already ended is shown with the reason why it was not cancelled. */
function conflictOf(error: unknown): Refusal {
  if (error instanceof Refusal && error.type === 'conflict') return error
  throw error
}

/** @throws Refusal 'not_found', also for runs of other accounts. */
async function findOwn({ runs }: Deps, whose: KeyScope, id: string): Promise<ShownRun> {
  const found = isId('run', id) ? await runs.findShown(whose, id) : undefined
  return found ?? refuse('not_found', 'This run does not exist.')
}

/** A scope of keys, and the zone whose days its reader sees. */
type Reader = KeyScope & Pick<Actor, 'zone'>

/** The account's runs as far back as the plan says, narrowed; one that is named whole, alone. */
async function openList(
  deps: Deps,
  whose: Reader,
  query: URLSearchParams,
): Promise<ListSource<ShownRun>> {
  const asked = await ownFilter(deps, whose, query)
  const since = await accountListedSince(deps, whose.account)
  const filter = { ...asked, from: Math.max(asked.from ?? 0, since) }
  return {
    list: (page) => deps.runs.listShown(whose, filter, page),
    listCostliest: (limit) => deps.runs.listCostliest(whose, filter, limit),
    named: async () => {
      const id = filter.ids && wholeRunId(filter.ids)
      const found = id && (await deps.runs.findShown(whose, id))
      return id === undefined ? undefined : found ? [found] : []
    },
    assertPlace: async (after) => {
      if (isId('run', after) && (await deps.runs.findShown(whose, after))) return
      refuse('invalid_request', { message: 'This run does not exist.', param: 'after' })
    },
  }
}

async function ownFilter(deps: Deps, whose: Reader, query: URLSearchParams): Promise<ShownFilter> {
  const filter = readFilter(query, deps.clock.now(), whose.zone)
  if (filter.keyId === undefined) return filter
  const key = await deps.keys.find(filter.keyId)
  if (key && isKeyOf(key, whose)) return filter
  refuse('invalid_request', { message: 'This key does not exist.', param: 'key' })
}

async function choicesOf(deps: Deps, whose: Reader) {
  const keys = await deps.runs.keysToChoose(whose, keysMax + 1)
  return {
    models: deps.catalogue.list().map(({ id }) => id),
    keys: keys.length > keysMax ? undefined : keys,
    receiptStateOf: await readReceiptStates(deps),
    zone: zoneOf(whose),
    sums: await readDays(deps, whose, deps.clock.now()),
  }
}

async function detail(
  deps: Deps,
  acting: Actor,
  shown: ShownRun,
  query: URLSearchParams,
  trouble?: string,
) {
  const { run } = shown
  const receiptStateOf = await readReceiptStates(deps)
  const list = filterQuery(query, ownRunQuery)
  const liveQuery = new URLSearchParams([...list, ['mark', markOf(shown, receiptStateOf)]])
  const texts = isInFlight(run) ? undefined : await deps.texts.find(run.id)
  const isJson = query.get('texts') === 'json'
  if (isJson) liveQuery.set('texts', 'json')
  const other = new URLSearchParams(isJson ? list : [...list, ['texts', 'json']])
  const kept = {
    ...{ texts, isJson, otherHref: runPath(run.id, other) },
    retention: await deps.texts.retentionOf(acting.account),
    curl: curlAgain(deps.settings.baseUrl, run, texts?.input),
  }
  const near = await neighbours(deps, acting, run.id, list)
  return <RunPage {...{ shown, receiptStateOf, liveQuery, kept, near, trouble }} />
}

/** The runs beside it in its list. A filter that cannot be read narrows nothing here. */
async function neighbours(deps: Deps, whose: Actor, id: string, list: URLSearchParams) {
  const filter = await ownFilter(deps, whose, list).catch((error: unknown) => {
    if (error instanceof Refusal) return {}
    throw error
  })
  const since = await accountListedSince(deps, whose.account)
  const seen = { ...filter, from: Math.max((filter as ShownFilter).from ?? 0, since) }
  const { items } = await deps.runs.listShown(whose, seen, { limit: 1, after: id })
  const [newer, older] = [await deps.runs.nextNewer(whose, seen, id), items[0]?.run.id]
  return { newer: newer && runPath(newer, list), older: older && runPath(older, list) }
}

async function lookAtRun(
  deps: Deps,
  acting: Actor,
  id: string,
  query: URLSearchParams,
): Promise<PartState> {
  const shown = await findOwn(deps, acting, id)
  const mark = markOf(shown, await readReceiptStates(deps))
  return { mark, html: async () => renderIn(acting.zone, await detail(deps, acting, shown, query)) }
}

/** Follows the list: runs newer than `since`, and those in `open` until they are final. */
async function followList(
  deps: Deps,
  context: SseContext,
  { session, acting }: { session: SessionRow; acting: Actor },
) {
  const query = queryOf(context.request)
  const { account } = acting
  const filter = await ownFilter(deps, acting, query)
  const list = filterQuery(query, ownRunQuery)
  let receiptStateOf = await readReceiptStates(deps)
  const rows: Rows<ShownRun> = {
    newer: async (since) => {
      const found = await deps.runs.newerThan(acting, filter, since, newsMax)
      return found.map(({ id }) => id)
    },
    read: async (ids) => {
      receiptStateOf = await readReceiptStates(deps)
      const ended = await deps.runs.endedAmong(acting, ids)
      const left = ids.filter((id) => !ended.some(({ run }) => run.id === id))
      const open = await Promise.all(left.map((id) => deps.runs.findShown(acting, id)))
      return [...open.filter((found) => found !== undefined), ...ended]
    },
    idOf: ({ run }) => run.id,
    markOf: (shown) => markOf(shown, receiptStateOf),
    isSettled: ({ run }) => !isInFlight(run) && receiptStateOf(run) === 'final',
    draw: (shown) =>
      freshRow(
        shown,
        runsLook({
          now: deps.clock.now(),
          zone: zoneOf(acting),
          query: list,
          receiptStateOf,
          models: [],
          keys: undefined,
        }),
      ),
  }
  return followRows(deps, context, { session, account }, rows, shownIn(query, 'run'))
}
