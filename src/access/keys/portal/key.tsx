/** One key of an account: its page, its confirmations, and `/api/portal/keys/:id`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { type Actor, whoOf } from '../../../kernel/acting.ts'
import { firstPage } from '../../../kernel/pagination.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import type { KeyRow, SessionRow } from '../../../storage/db/schema/schema.ts'
import { answerOnce, callOf } from '../../../web/http/answer-once.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { draftOf, type Fields, readFields } from '../../../web/http/fields.ts'
import { listQuery, queryOf, readPage } from '../../../web/http/query.ts'
import { Confirm, ConfirmPage } from '../../../web/ui/confirm.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage, type Page, shownAt } from '../../../web/ui/layout.tsx'
import { navigates, type ReplyContext, reply } from '../../../web/ui/reply.ts'
import type { DoneWhat } from '../../../web/ui/toast.tsx'
import { sessionAuth, wantsJson, wantsPage } from '../../accounts/needs-session.ts'
import { countAffected } from '../affected.ts'
import { changeBody, rotateBody } from '../api/key-body.ts'
import { onceShown } from '../api/once-shown.ts'
import { changeKey } from '../change.ts'
import type { KeyCommand } from '../key.ts'
import { readDetail } from '../key-detail.ts'
import { toChange } from '../key-request.ts'
import { toKeyView } from '../key-view.ts'
import { withLastUse } from '../last-use.ts'
import { findAccountKey, findOwnedKey } from '../owns.ts'
import { pauseKey, resumeKey } from '../pause.ts'
import { revokeKey } from '../revoke.ts'
import { rotateKey } from '../rotate.ts'
import type { MintedKey } from './create-key.ts'
import { confirmPause, confirmRevoke, confirmRotate } from './key-confirm.tsx'
import { KeyPage } from './key-detail.tsx'
import { readKeyChange } from './key-form.ts'
import { type DetailView, keyPath, keysPath } from './key-state.tsx'
import { secretPath, showSecret } from './secret.tsx'

type Context = ReplyContext & { acting: Actor }
type SessionContext = Context & { session: Pick<SessionRow, 'id'> }

export const keyPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'key-portal' }).use(pages(deps, frame)).use(actions(deps, frame))

const pages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'key-pages' })
    .use(sessionAuth(deps))
    .get(
      `${keysPath}/:id`,
      async ({ params, request, set, acting }) => {
        const key = await findAccountKey(deps, acting, params.id)
        const query = queryOf(request)
        const asked = query.has('after') ? readPage(listQuery(query)) : firstPage
        const view = { ...(await readDetail(deps, key, asked)), isAgain: query.has('again') }
        const page = pageOf(frame, acting, key.name, <KeyPage view={view} />)
        return reply({ request, set }, { page })
      },
      { needsSession: { page: 'keys:read' } },
    )
    .get(
      `${keysPath}/:id/revoke`,
      async ({ params, request, set, acting }) => {
        const key = await findOwnedKey(deps, acting, params.id)
        const asked = confirmRevoke(await revokeView(deps, key))
        const main = <ConfirmPage head="Revoke a key" {...asked} />
        const page = pageOf(frame, acting, `Revoke ${key.name}?`, main)
        return reply({ request, set }, { page, fragment: <Confirm {...asked} /> })
      },
      { needsSession: { page: 'keys:write' } },
    )
    .get(
      `${keysPath}/:id/pause`,
      async ({ params, request, set, acting }) => {
        const key = await findOwnedKey(deps, acting, params.id)
        const asked = confirmPause(key, await countAffected(deps, key.id))
        const main = <ConfirmPage head="Pause a key" {...asked} />
        const page = pageOf(frame, acting, `Pause ${key.name}?`, main)
        return reply({ request, set }, { page, fragment: <Confirm {...asked} /> })
      },
      { needsSession: { page: 'keys:write' } },
    )
    .get(
      `${keysPath}/:id/rotate`,
      async ({ params, request, set, acting }) => {
        const key = await findOwnedKey(deps, acting, params.id)
        const asked = confirmRotate(key)
        const main = <ConfirmPage head="Rotate a key" {...asked} />
        const page = pageOf(frame, acting, `Rotate ${key.name}`, main)
        return reply({ request, set }, { page, fragment: <Confirm {...asked} /> })
      },
      { needsSession: { page: 'keys:write' } },
    )

const actions = (deps: Deps, frame: Frame) => {
  const change = async (context: Context, id: string) => {
    const key = await findOwnedKey(deps, context.acting, id)
    const sent = await readFields(context.request, { limitBytes: deps.settings.bodyBytes })
    return changeIt(deps, frame, { context, key, sent })
  }
  /** Runs a command on a key, and answers with the changed key. */
  const act = async (
    context: Context,
    id: string,
    verb: (deps: Deps, wish: KeyCommand) => Promise<unknown>,
    done: DoneWhat,
  ) => {
    const { acting } = context
    const key = await findOwnedKey(deps, acting, id)
    await verb(deps, { keyId: key.id, actor: acting.wallet, acting })
    const answered = await answer(deps, context, key, done)
    if (verb !== resumeKey || !wantsJson(context.request)) return answered
    const left = await deps.keys.leftPaused(key)
    return { ...(answered as object), left_paused: left.map(({ id }) => id) }
  }
  return new Elysia({ name: 'key-actions' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/keys/:id',
      async ({ params, request, set, acting }) =>
        answer(deps, { request, set, acting }, await findAccountKey(deps, acting, params.id)),
      { needsSession: { action: 'keys:read' } },
    )
    .patch(
      '/api/portal/keys/:id',
      ({ params, request, set, acting }) => change({ request, set, acting }, params.id),
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/keys/:id',
      ({ params, request, set, acting }) => change({ request, set, acting }, params.id),
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/keys/:id/pause',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.id, pauseKey, 'key_paused'),
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/keys/:id/resume',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.id, resumeKey, 'key_resumed'),
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/keys/:id/revoke',
      ({ params, request, set, acting }) =>
        act({ request, set, acting }, params.id, revokeKey, 'key_revoked'),
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/keys/:id/rotate',
      async ({ params, request, set, acting, session }) => {
        const key = await findOwnedKey(deps, acting, params.id)
        const sent = await readFields(request, { limitBytes: deps.settings.bodyBytes })
        return rotateIt(deps, frame, { context: { request, set, acting, session }, key, sent })
      },
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
}

const pageOf = (frame: Frame, acting: Actor, title: string, main: Markup): Page =>
  dashboardPage({ frame, title, here: keysPath, acting, main })

async function revokeView(deps: Deps, key: KeyRow) {
  const now = deps.clock.now()
  const [affected, { items }] = await Promise.all([
    countAffected(deps, key.id),
    deps.keys.listBelow(key, { limit: 21, after: undefined }, now),
  ])
  const live = items.filter(
    (one) => one.key.id !== key.id && one.key.revokedAt === null && one.key.expiresAt > now,
  )
  const [own = key, ...below] = await withLastUse(deps, [
    key,
    ...live.slice(0, 20).map((one) => one.key),
  ])
  return { keyRow: own, affected, below, now }
}

/** The key in JSON, as htmx's part of its page, or by going to its page. */
async function answer(deps: Deps, context: Context, { id }: KeyRow, done?: DoneWhat) {
  const key = await findAccountKey(deps, context.acting, id)
  if (wantsJson(context.request)) {
    const now = deps.clock.now()
    return toKeyView(await deps.keys.show(id, now), now)
  }
  const fragment = <KeyPage view={await readDetail(deps, key, firstPage)} />
  const said = done ? { done: { what: done, id } } : {}
  return reply(context, { fragment, seeOther: keyPath(id), ...said })
}

type KeyPost = { context: Context; key: KeyRow; sent: Fields }

async function changeIt(deps: Deps, frame: Frame, { context, key, sent }: KeyPost) {
  const { acting, request } = context
  const draft = draftOf(sent.value)
  try {
    const parent = key.parentId === null ? undefined : await deps.keys.find(key.parentId)
    const change = sent.isForm
      ? readKeyChange(draft, { key, parent, now: deps.clock.now() })
      : toChange(checkBody(changeBody, sent.value))
    await changeKey(deps, { keyId: key.id, actor: acting.wallet, acting, change })
    return await answer(deps, context, key, 'key_changed')
  } catch (error) {
    if (!(error instanceof Refusal) || wantsJson(request)) throw error
    const view = { ...(await readDetail(deps, key, firstPage)), draft, refusal: error }
    return showKey(frame, context, view, error.status)
  }
}

async function rotateIt(
  deps: Deps,
  frame: Frame,
  { context, key, sent }: KeyPost & { context: SessionContext },
) {
  const { acting, request } = context
  const { fingerprint: from, overlap_seconds: overlap } = draftOf(sent.value)
  if (wantsJson(request)) return rotateOnce(deps, { context, key, sent })
  // A reload sends the form again.
  if (from !== undefined && from !== key.fingerprint && wantsPage(request)) {
    const seeOther = navigates(request) ? secretPath(key.id) : `${keyPath(key.id)}?again=1`
    return reply(context, { fragment: <></>, seeOther })
  }
  try {
    const made = await rotate(deps, acting, { key, sent })
    return await showSecret(deps, frame, context, { made, by: 'rotate', status: 200 })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const asked = confirmRotate(key, { overlap, refusal: error })
    const main = <ConfirmPage head="Rotate a key" {...asked} />
    const page = pageOf(frame, acting, `Rotate ${key.name}`, main)
    return reply(context, { page: shownAt(page, keyPath(key.id)), status: error.status })
  }
}

/** For programs, which may send an Idempotency-Key. */
function rotateOnce(deps: Deps, { context, key, sent }: KeyPost) {
  const { acting, request, set } = context
  const route = `POST /api/portal/keys/${key.id}/rotate`
  const call = callOf(deps, {
    request,
    who: whoOf(acting),
    route,
    text: JSON.stringify(sent.value),
  })
  return answerOnce(deps, { set }, call, async () => {
    const once = onceShown(deps, call, 200)
    const { secret } = await rotate(deps, acting, { key, sent, once })
    const now = deps.clock.now()
    return { ...toKeyView(await deps.keys.show(key.id, now), now), secret }
  })
}

type RotationPost = Omit<KeyPost, 'context'> & { once?: ReturnType<typeof onceShown> }

/** Reads the body of `POST /v1/keys/:id/rotate`, or the fields of its form. */
function rotate(deps: Deps, acting: Actor, { key, sent, once }: RotationPost): Promise<MintedKey> {
  const wish = { keyId: key.id, actor: acting.wallet, acting, once }
  if (!sent.isForm) {
    const { overlap_seconds: overlapSeconds = 0 } = checkBody(rotateBody, sent.value)
    return rotateKey(deps, { ...wish, overlapSeconds })
  }
  const { fingerprint: from, overlap_seconds: text = '0' } = draftOf(sent.value)
  const overlapSeconds = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  return rotateKey(deps, { ...wish, overlapSeconds, from })
}

function showKey(frame: Frame, context: Context, view: DetailView, status: number) {
  const { key } = view.shown
  const page = pageOf(frame, context.acting, key.name, <KeyPage view={view} />)
  return reply(context, { page: shownAt(page, keyPath(key.id)), status })
}
