/** The overview page of a signed-in account, its live part and its JSON. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { toAccountView } from '../../access/keys/key-view.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, may, zoneOf } from '../../kernel/acting.ts'
import { isId } from '../../kernel/ids.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import { utcZone } from '../../kernel/zone.ts'
import { anchorStatus } from '../../proof/anchors/anchor-status.ts'
import { isDiverged } from '../../proof/log/divergence.ts'
import { followAccount, type PartState } from '../../runs/api/live.ts'
import { markOf, receiptPath } from '../../runs/portal/run-state.tsx'
import { readReceiptStates } from '../../runs/receipt-state.ts'
import { toRunView } from '../../runs/run-view.ts'
import type { AccountRow } from '../../storage/db/schema/schema.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { readFields } from '../../web/http/fields.ts'
import { queryOf, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { reply, sendOn } from '../../web/ui/reply.ts'
import { renderIn } from '../../web/ui/when.tsx'
import { alertsOf } from './alerts.ts'
import { readOnboarding, stepsDone, verifyOwn } from './onboarding.ts'
import { FindPage, findPath } from './portal/find-page.tsx'
import {
  LiveMessage,
  type LiveView,
  Overview,
  type OverviewView,
  stepsMark,
} from './portal/overview.tsx'
import type { OverviewAnswer } from './shapes.ts'
import { verifyRunBody } from './shapes.ts'
import { lastingOf, type ReadSpend, spendReader } from './spend.ts'

const path = '/dashboard'
/** Most keys that the page of links names. */
const keysShown = 50
/** Number of recent runs shown. */
const recentMax = 9
/** Largest body of a request that names a run, in bytes. */
const bodyBytes = 4096

export const overviewPortal = (deps: Deps, frame: Frame) => {
  const readSpend = spendReader(deps)
  return new Elysia({ name: 'overview-portal' })
    .use(sessionAuth(deps))
    .get(
      path,
      async ({ request, set, account, acting }) => {
        const main = (
          <Overview view={await readOverview(deps, readSpend, account, zoneOf(acting))} />
        )
        const parts = { frame, title: 'Overview', here: path, acting, main }
        const page = dashboardPage({ ...parts, scripts: ['hx-sse'] })
        return reply({ request, set }, { page })
      },
      { needsSession: { page: 'overview:read' } },
    )
    .get(
      findPath,
      async ({ request, set, acting }) => {
        const isShown = may(acting, 'keys:read')
        const keys = isShown ? await deps.runs.keysToChoose(acting, keysShown) : []
        const main = <FindPage frame={frame} acting={acting} keys={keys} />
        const page = dashboardPage({ frame, title: 'Find a page', here: findPath, acting, main })
        return reply({ request, set }, { page })
      },
      { needsSession: { page: 'self' } },
    )
    .get(
      '/api/portal/overview',
      async ({ account }) => toView(deps, await readOverview(deps, readSpend, account)),
      {
        needsSession: { action: 'overview:read' },
      },
    )
    .get(
      '/api/portal/overview/live',
      ({ request, server, set, session, account, acting }) => {
        const mark = readText(queryOf(request), 'mark')
        const look = () => lookAt(deps, acting)
        const context = { request, server, set }
        return followAccount(deps, { context, session, account, mark, look })
      },
      { needsSession: { action: 'overview:read' } },
    )
    .post(
      '/api/portal/overview/verify',
      async ({ request, set, account, acting }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { run_id: runId, digest } = checkBody(verifyRunBody, value)
        if (!isId('run', runId)) {
          refuse('invalid_request', { param: 'run_id', message: '"run_id" must name a run.' })
        }
        await verifyOwn(deps, { account, runId, digest, actor: acting.wallet })
        if (wantsJson(request)) return { verified: true }
        return sendOn({ set }, receiptPath(runId))
      },
      { needsSession: { action: 'settings:write' }, parse: 'none' },
    )
}

async function readOverview(
  deps: Deps,
  readSpend: ReadSpend,
  accountId: string,
  zone = utcZone,
): Promise<OverviewView> {
  const { clock, health } = deps
  const now = clock.now()
  const live = await readLive(deps, accountId)
  const { spend, spentToday } = await readSpend(accountId, now, zone)
  const keys = await deps.keys.tree({ account: accountId }, now)
  const { account, onboarding } = live
  const available = account.balance - account.held
  const lasting = lastingOf(available, spend, now)
  const alerts = alertsOf({
    now,
    // The first steps already tell an account that it has no credit yet.
    available: onboarding?.hasCredit === false ? undefined : available,
    lasting,
    keys,
    spentToday,
    isDiverged: isDiverged(health),
    isUnbalanced: health.ledger === 'unbalanced',
    isDegraded: (await anchorStatus(deps)).isDegraded,
  })
  return { ...live, now, zone, spend, lasting, alerts, keys, mark: markOfAll(live) }
}

async function readLive(deps: Deps, accountId: string): Promise<LiveView> {
  const account = await findAccount(deps, accountId)
  const newest = { limit: recentMax, after: undefined }
  const { items: recent } = await deps.runs.listShown({ account: accountId }, {}, newest)
  const onboarding = await readOnboarding(deps, account, recent)
  const takesDeposits = deps.depositPolicy !== undefined
  return {
    account,
    now: deps.clock.now(),
    recent,
    receiptStateOf: await readReceiptStates(deps),
    onboarding,
    takesDeposits,
  }
}

async function findAccount({ accounts }: Deps, id: string): Promise<AccountRow> {
  const found = await accounts.find(id)
  if (!found) throw new Error('a session without an account')
  return found
}

async function lookAt(deps: Deps, { account, zone }: Actor): Promise<PartState> {
  const view = await readLive(deps, account)
  return { mark: markOfAll(view), html: () => renderIn(zone, <LiveMessage view={view} />) }
}

function markOfAll(view: LiveView): string {
  const { account, recent, receiptStateOf } = view
  const money = `${account.balance}-${account.held}`
  return [money, stepsMark(view), ...recent.map((run) => markOf(run, receiptStateOf))].join('.')
}

function toView({ plans }: Deps, view: OverviewView): OverviewAnswer {
  const { account, recent, spend, lasting, alerts, onboarding, now } = view
  return {
    object: 'overview',
    ...toAccountView(account, plans.of(account, now)),
    spent_nusd: toJsonInteger(spend.total),
    spend_days: spend.days.length,
    per_day_nusd: lasting ? toJsonInteger(lasting.perDay) : null,
    lasts_days: lasting?.days ?? null,
    alerts: alerts.map((alert) => ({
      type: alert.kind,
      key_id: 'key' in alert ? alert.key.id : null,
    })),
    recent_runs: recent.map(({ run }) => toRunView(run)),
    onboarding: onboarding ? { done: stepsDone(onboarding) } : null,
  }
}
