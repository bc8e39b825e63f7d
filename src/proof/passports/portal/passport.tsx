/** One passport of an account: its page, its retirement and its actions. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { type Draft, draftOf, readFields } from '../../../web/http/fields.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import type { DoneWhat } from '../../../web/ui/toast.tsx'
import { bindKey, keysOf, unbindAll, unbindKey } from '../bind.ts'
import { editPassport } from '../edit.ts'
import { issueStatement } from '../issue.ts'
import { readOwnPassport } from '../own.ts'
import { findOwnPassport } from '../passport.ts'
import { toOwnView, toStatementView } from '../passport-view.ts'
import { hidePassport, publishPassport } from '../publish.ts'
import { retirePassport } from '../retire.ts'
import { toStatementFile } from '../statement-file.ts'
import { OwnPassportPage, type OwnView, RetirePage } from './passport-detail.tsx'
import { ownPassportPath, ownPassportsPath } from './passport-state.tsx'
import { readEdit, readKeyId, readNamedKey } from './read-body.ts'

type Context = ReplyContext & { acting: Actor }
type PassportRequest = { passport: PassportRow; actor: string }
type PassportAction = {
  verb: (asked: PassportRequest) => Promise<unknown>
  draft?: Draft
  done?: DoneWhat
}

/** One passport of an account: its page, what it asks before it ends, and its actions. */
export const passportPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'passport-portal' }).use(pages(deps, frame)).use(actions(deps, frame))

const pages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'passport-own-pages' })
    .use(sessionAuth(deps))
    .get(
      '/dashboard/passports/:handle',
      async ({ params, request, set, acting }) => {
        const row = await findOwnPassport(deps, acting.account, params.handle)
        const main = <OwnPassportPage view={await viewOf(deps, row)} />
        return reply({ request, set }, { page: pageOf(frame, acting, `@${row.handle}`, main) })
      },
      { needsSession: { page: 'passports:read' } },
    )
    .get(
      '/dashboard/passports/:handle/retire',
      async ({ params, request, set, acting }) => {
        const row = await findOwnPassport(deps, acting.account, params.handle)
        if (row.status === 'retired') {
          const seeOther = ownPassportPath(row.handle)
          return reply({ request, set }, { fragment: <></>, seeOther })
        }
        const main = <RetirePage row={row} bound={await keysOf(deps, row)} />
        const page = pageOf(frame, acting, `Retire @${row.handle}?`, main)
        return reply({ request, set }, { page })
      },
      { needsSession: { page: 'passports:write' } },
    )

const actions = (deps: Deps, frame: Frame) => {
  /** Does one thing to a passport, and answers with it as it is then. */
  const act = async (
    context: Context,
    handle: string,
    { verb, draft, done = 'passport_saved' }: PassportAction,
  ) => {
    const passport = await findOwnPassport(deps, context.acting.account, handle)
    try {
      await verb({ passport, actor: context.acting.wallet })
    } catch (error) {
      if (!(error instanceof Refusal) || wantsJson(context.request)) throw error
      const view = { ...(await viewOf(deps, passport)), draft, refusal: error }
      const page = pageOf(frame, context.acting, `@${handle}`, <OwnPassportPage view={view} />)
      return reply(context, { page, status: error.status })
    }
    return answer(deps, context, passport, done)
  }
  const issue = (asked: PassportRequest) => issueStatement(deps, asked)
  const withBody = (sent: Request) => readFields(sent, { limitBytes: deps.settings.bodyBytes })

  const edit = async (context: Context, handle: string) => {
    const sent = await withBody(context.request)
    const verb = (asked: PassportRequest) => editPassport(deps, { ...asked, wish: readEdit(sent) })
    return act(context, handle, { verb, draft: draftOf(sent.value) })
  }

  return new Elysia({ name: 'passport-actions' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/passports/:handle',
      async ({ params: { handle }, request, set, acting }) =>
        answer(deps, { request, set, acting }, await findOwnPassport(deps, acting.account, handle)),
      { needsSession: { action: 'passports:read' } },
    )
    .patch(
      '/api/portal/passports/:handle',
      ({ params, request, set, acting }) => edit({ request, set, acting }, params.handle),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle',
      ({ params, request, set, acting }) => edit({ request, set, acting }, params.handle),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle/publish',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.handle, {
          verb: (asked) => publishPassport(deps, asked),
          done: 'passport_published',
        }),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle/hide',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.handle, {
          verb: (asked) => hidePassport(deps, asked),
          done: 'passport_hidden',
        }),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle/retire',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.handle, {
          verb: (asked) => retirePassport(deps, asked),
          done: 'passport_retired',
        }),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle/statement',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.handle, { verb: issue, done: 'statement_issued' }),
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle/bind',
      async ({ params, request, set, acting }) => {
        const { value } = await withBody(request)
        const verb = (asked: PassportRequest) => {
          const keyId = readKeyId(value)
          return keyId === undefined ? unbindAll(deps, asked) : bindKey(deps, { ...asked, keyId })
        }
        return act({ request, set, acting }, params.handle, { verb })
      },
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/passports/:handle/unbind',
      async ({ params, request, set, acting }) => {
        const { value } = await withBody(request)
        const verb = (asked: PassportRequest) =>
          unbindKey(deps, { ...asked, keyId: readNamedKey(value) })
        return act({ request, set, acting }, params.handle, { verb })
      },
      { needsSession: { action: 'passports:write' }, parse: 'none' },
    )
}

const pageOf = (frame: Frame, acting: Actor, title: string, main: Markup) =>
  dashboardPage({ frame, title, here: ownPassportsPath, acting, main })

/** The passport in JSON, as htmx's part of its page, or by going to its page. */
async function answer(deps: Deps, context: Context, { handle }: PassportRow, done?: DoneWhat) {
  const row = await findOwnPassport(deps, context.acting.account, handle)
  if (wantsJson(context.request)) return toOwnJson(deps, row)
  const fragment = <OwnPassportPage view={await viewOf(deps, row)} />
  const said = done ? { done: { what: done, id: handle } } : {}
  return reply(context, { fragment, seeOther: ownPassportPath(handle), ...said })
}

/** A passport of one's own in JSON. */
async function toOwnJson(deps: Deps, row: PassportRow) {
  const { standing, bound, statement } = await readOwnPassport(deps, row)
  const keyIds = bound.map(({ id }) => id)
  return { ...toOwnView(deps, standing, keyIds), statement: toStatementView(deps, statement) }
}

async function viewOf(deps: Deps, passport: PassportRow): Promise<OwnView> {
  const { standing, statement, ...rest } = await readOwnPassport(deps, passport)
  return {
    ...rest,
    row: standing.row,
    now: deps.clock.now(),
    statement: statement && toStatementFile(deps, statement),
    issuedAt: statement?.createdAt,
  }
}
