/** The plan of an account in the dashboard: compare, preview, subscribe, cancel. */
import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import type { Plan } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, whoOf } from '../../kernel/acting.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { parseTime } from '../../kernel/time-text.ts'
import { onceOf } from '../../ledger/once.ts'
import type { Call } from '../../storage/idempotency/call.ts'
import { answerOnce, callOf, jsonReply } from '../../web/http/answer-once.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { readFields } from '../../web/http/fields.ts'
import { queryOf, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { isHtmx, type ReplyContext, reply } from '../../web/ui/reply.ts'
import type { DoneWhat } from '../../web/ui/toast.tsx'
import { readAccountPlan } from './account-plan.ts'
import { cancelPlan } from './cancel.ts'
import { toPlansView, toQuoteView, toSubscriptionView } from './plan-view.ts'
import { planPath } from './plan-words.ts'
import { PlanBody, PlanPage } from './portal/plan.tsx'
import type { PlanView } from './portal/plan-page-view.ts'
import { quoteOf } from './quote.ts'
import { resumePlan } from './resume.ts'
import { emptyBody, subscribeBody } from './shapes.ts'
import { type SubscribeResult, subscribe } from './subscribe.ts'

type Context = ReplyContext & { account: string; acting: Actor }

/** The plan of an account: compare plans, preview the cost of a change, subscribe, cancel. */
export const plansPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'plans-portal' })
    .use(sessionAuth(deps))
    .get(
      planPath,
      async ({ request, set, account, acting }) => {
        const query = queryOf(request)
        const wanted = readText(query, 'to')
        const view = await viewOf(deps, account, wanted, query.has('cancel'))
        return show(frame, { request, set, account, acting }, view)
      },
      { needsSession: { page: 'plans:read' } },
    )
    .get(
      '/api/portal/plans',
      async ({ request, set, account }) => {
        if (isHtmx(request)) {
          const fragment = <PlanBody view={await viewOf(deps, account)} />
          return reply({ request, set }, { fragment, seeOther: planPath })
        }
        return toPlansView(deps.plans, await readAccountPlan(deps, account))
      },
      { needsSession: { action: 'plans:read' } },
    )
    .use(actions(deps, frame))

const actions = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'plans-actions' })
    .use(sessionAuth(deps))
    .post(
      '/api/portal/plans/:id/preview',
      async ({ request, set, account, params }) => {
        const plan = findPlan(deps, params.id)
        await readBody(deps, request, emptyBody)
        if (wantsJson(request)) return preview(deps, account, plan)
        const fragment = <PlanBody view={await viewOf(deps, account, plan.id)} />
        return reply({ request, set }, { fragment, seeOther: `${planPath}?to=${plan.id}` })
      },
      { needsSession: { action: 'plans:read' }, parse: 'none' },
    )
    .post(
      '/api/portal/plans/:id/subscribe',
      async ({ request, set, account, acting, params }) => {
        const plan = findPlan(deps, params.id)
        const body = await readBody(deps, request, subscribeBody)
        const { quoted_at: quoted } = body
        const quotedAt = quoted === undefined ? undefined : parseTime(quoted)
        if (quoted !== undefined && quotedAt === undefined) {
          const message = '"quoted_at" must be the one of a preview.'
          refuse('invalid_request', { param: 'quoted_at', message })
        }
        const route = `POST /api/portal/plans/${plan.id}/subscribe`
        const asked = { request, who: whoOf(acting), route, text: JSON.stringify(body) }
        const call = wantsJson(request) ? callOf(deps, asked) : undefined
        const wish = {
          account,
          actor: acting.wallet,
          plan,
          quotedAt,
          once: call && onceStanding(deps, call),
        }
        return answerOnce(deps, { set }, call, () => {
          const context = { request, set, account, acting }
          const act = async () => {
            const { stands, at } = await subscribe(deps, wish)
            return { ...stands, now: at, plan: deps.plans.of(stands.account, at) }
          }
          return perform(deps, frame, context, { act, wanted: plan.id, done: 'plan_changed' })
        })
      },
      { needsSession: { action: 'plans:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/plans/cancel',
      async ({ request, set, account, acting }) => {
        await readBody(deps, request, emptyBody)
        const cancel = async () => {
          await cancelPlan(deps, account, acting.wallet)
          return undefined
        }
        const done = 'plan_cancelled'
        return perform(deps, frame, { request, set, account, acting }, { act: cancel, done })
      },
      { needsSession: { action: 'plans:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/plans/resume',
      async ({ request, set, account, acting }) => {
        await readBody(deps, request, emptyBody)
        const resume = async () => {
          await resumePlan(deps, account, acting.wallet)
          return undefined
        }
        return perform(
          deps,
          frame,
          { request, set, account, acting },
          { act: resume, done: 'plan_resumed' },
        )
      },
      { needsSession: { action: 'plans:write' }, parse: 'none' },
    )

/**
 * Does it, and shows where the account stands then, or in place why it could not be done. Where
 * `act` says how the account stood at its commit, a program is told that: a repeated call gets it
 * again.
 */
async function perform(
  deps: Deps,
  frame: Frame,
  context: Context,
  { act, wanted, done }: PlanAction,
) {
  const { request, set, account } = context
  let stands: PlanStanding | undefined
  try {
    stands = await act()
  } catch (error) {
    if (!(error instanceof Refusal) || wantsJson(request)) throw error
    return show(frame, context, { ...(await viewOf(deps, account, wanted)), refusal: error })
  }
  const view = await viewOf(deps, account)
  if (!wantsJson(request)) {
    const fragment = <PlanBody view={view} />
    return reply({ request, set }, { fragment, seeOther: planPath, done: { what: done } })
  }
  return toStandingView(stands ?? view)
}

type PlanAction = {
  act: () => Promise<PlanStanding | undefined>
  /** The plan whose preview is shown again where it could not be done. */
  wanted?: string
  done: DoneWhat
}

type PlanStanding = Pick<PlanView, 'plan' | 'current' | 'account' | 'now'>

const toStandingView = ({ plan, current, account, now }: PlanStanding) => ({
  ...(current ? toSubscriptionView(current) : { object: 'subscription' as const, id: null }),
  plan: plan.id,
  available_nusd: toJsonInteger(account.balance - account.held),
  as_of: toRfc3339(now),
})

/** The answer that a repeated subscription gets again. */
const onceStanding = (deps: Deps, call: Call) =>
  onceOf<SubscribeResult>(deps, call, ({ account, current }, now) => {
    const plan = deps.plans.of(account, now)
    return jsonReply(200, {}, toStandingView({ plan, current, account, now }))
  })

function show(frame: Frame, { request, set, acting }: Context, view: PlanView) {
  const main = <PlanPage view={view} />
  const page = dashboardPage({ frame, title: 'Plan', here: planPath, acting, main })
  const status = view.refusal ? { status: view.refusal.status } : {}
  return reply({ request, set }, { page, fragment: <PlanBody view={view} />, ...status })
}

async function preview(deps: Deps, account: string, plan: Plan) {
  const { current, now } = await readAccountPlan(deps, account)
  return toQuoteView(quoteOf(current, plan, now), now)
}

async function viewOf(
  deps: Deps,
  accountId: string,
  wanted?: string,
  cancels = false,
): Promise<PlanView> {
  const standing = await readAccountPlan(deps, accountId)
  const { current, now } = standing
  const plan = wanted === undefined ? undefined : findPlan(deps, wanted)
  const view = { ...standing, plans: deps.plans, cancels: cancels && current !== undefined }
  return plan ? { ...view, quote: quoteOf(current, plan, now) } : view
}

const findPlan = ({ plans }: Deps, id: string): Plan =>
  plans.find(id) ?? refuse('not_found', 'There is no such plan. GET /v1/plans lists them.')

async function readBody<T extends typeof subscribeBody | typeof emptyBody>(
  { settings }: Deps,
  request: Request,
  schema: T,
): Promise<Static<T>> {
  const { value } = await readFields(request, { limitBytes: settings.bodyBytes })
  return checkBody(schema, value)
}
