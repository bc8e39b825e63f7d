/** An account's passports in the browser and as JSON: the list and creating one. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { viewRoutes } from '../../access/accounts/portal/view-routes.tsx'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, whoOf } from '../../kernel/acting.ts'
import { toListView } from '../../kernel/pagination.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { answerOnce, callOf, jsonReply } from '../../web/http/answer-once.ts'
import { type Draft, draftOf, readFields } from '../../web/http/fields.ts'
import { listQuery, readPage } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { listPassports } from './browse.ts'
import { createPassport } from './create.ts'
import { recordOf } from './issue.ts'
import { toOwnView } from './passport-view.ts'
import { passportPortal } from './portal/passport.tsx'
import { OwnListPage, OwnListPanel, type OwnListView } from './portal/passport-list.tsx'
import { ownPassportPath, ownPassportsPath, passportsAction } from './portal/passport-state.tsx'
import { readNewPassport } from './portal/read-body.ts'
import type { Standing } from './store/standing.ts'

type Context = ReplyContext & { account: string; acting: Actor }

/** An account's own passports: `/dashboard/passports` and `/api/portal/passports`. */
export const passportsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'passports-portal' })
    .use(
      viewRoutes(deps, frame, {
        name: 'passports',
        title: 'Your passports',
        right: 'passports:read',
        read: ({ acting, query }) => viewOf(deps, acting.account, query),
        page: (view) => <OwnListPage view={view} />,
        panel: (view) => <OwnListPanel view={view} />,
        sendsOn: true,
        json: ({ acting, query }) => listJson(deps, acting.account, query),
      }),
    )
    .use(sessionAuth(deps))
    .post(
      passportsAction,
      async ({ request, set, account, acting }) =>
        create(deps, frame, { request, set, account, acting }),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .use(passportPortal(deps, frame))

/** The new passport in JSON or on its own page; for people the form again where it was refused. */
async function create(deps: Deps, frame: Frame, context: Context) {
  const { request, set, account, acting } = context
  const actor = acting.wallet
  const sent = await readFields(request, { limitBytes: deps.settings.bodyBytes })
  if (wantsJson(request)) {
    const asked = { request, who: whoOf(acting), route: `POST ${passportsAction}` }
    const call = callOf(deps, { ...asked, text: JSON.stringify(sent.value) })
    return answerOnce(deps, { set }, call, async () => {
      const toReply = (row: PassportRow) => jsonReply(201, {}, toNewJson(deps, row))
      const once = call && { call, toReply }
      const row = await createPassport(deps, { account, actor, ...readNewPassport(sent), once })
      set.status = 201
      return toNewJson(deps, row)
    })
  }
  try {
    const row = await createPassport(deps, { account, actor, ...readNewPassport(sent) })
    const fragment = <OwnListPanel view={await viewOf(deps, account)} />
    const done = { what: 'passport_created' } as const
    return reply(context, { fragment, seeOther: ownPassportPath(row.handle), done })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const view = await viewOf(deps, account, undefined, { draft: draftOf(sent.value), error })
    return reply(context, { page: pageOf(frame, acting, view), status: error.status })
  }
}

/** A passport that was just made: nothing was counted of it yet. */
const toNewJson = (deps: Deps, row: PassportRow) => ({
  ...toOwnView(deps, { row, models: [], countedTo: 0 }, []),
  statement: null,
})

const pageOf = (frame: Frame, acting: Actor, view: OwnListView) =>
  dashboardPage({
    frame,
    title: 'Your passports',
    here: ownPassportsPath,
    acting,
    main: <OwnListPage view={view} />,
  })

async function listJson(deps: Deps, account: string, query: URLSearchParams) {
  const { items, hasMore } = await listPassports(deps, account, readPage(query))
  const keyIds = await boundTo(deps, account)
  const views = items.map((one) => toOwnView(deps, one, keyIds(one)))
  return toListView({ items: views, hasMore })
}

async function viewOf(
  deps: Deps,
  account: string,
  query = new URLSearchParams(),
  failed?: { draft: Draft; error: Refusal },
): Promise<OwnListView> {
  const page = readPage(listQuery(query))
  const { items, hasMore } = await listPassports(deps, account, page)
  const keyIds = await boundTo(deps, account)
  const listed = items.map((standing) => {
    return { standing, record: recordOf(deps, standing), keys: keyIds(standing).length }
  })
  return {
    account,
    found: { items: listed, hasMore },
    isFirst: page.after === undefined,
    draft: failed?.draft ?? {},
    refusal: failed?.error,
  }
}

/** The keys that name each passport, read once for all. */
async function boundTo({ passports }: Pick<Deps, 'passports'>, account: string) {
  const byHandle = Map.groupBy(await passports.boundKeys(account), ({ passport }) => passport)
  return ({ row }: Standing) => (byHandle.get(row.handle) ?? []).map(({ id }) => id)
}
