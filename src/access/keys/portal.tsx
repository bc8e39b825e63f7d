/** The keys of an account: the pages under `/dashboard/keys` and `/api/portal/keys`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { defaultPageLimit, toListView } from '../../kernel/pagination.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { answerOnce, callOf } from '../../storage/idempotency/api/answer-once.ts'
import { type Fields, readFields } from '../../web/http/fields.ts'
import { queryOf, readChoice, readPage, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { sessionAuth, wantsJson, wantsPage } from '../accounts/needs-session.ts'
import { onceShown } from './api/once-shown.ts'
import { browseKeys, listKeys, type Wanted } from './browse.ts'
import { makeFormToken } from './form-token.ts'
import { toKeyView } from './key-view.ts'
import type { CreateView } from './portal/create-form.tsx'
import { createKey, findMade, toReveal } from './portal/create-key.ts'
import { keyPortal, shownAt } from './portal/key.tsx'
import { type Draft, draftOf } from './portal/key-form.ts'
import { KeysPage, KeysPanel, type ListView } from './portal/key-list.tsx'
import { keyPath, keysPath } from './portal/key-state.tsx'
import { Reveal } from './portal/reveal.tsx'

type Context = ReplyContext & { account: string }

export const keysPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'keys-portal' })
    .use(sessionAuth(deps))
    .get(
      keysPath,
      async ({ request, set, account }) => {
        const query = queryOf(request)
        const parent = readText(query, 'parent_id')
        const draft: Draft = parent ? { parent_id: parent } : {}
        const { list, create } = await readViews(deps, account, { query, draft })
        const main = <KeysPage list={list} create={create} />
        const page = dashboardPage({ frame, title: 'Keys', here: keysPath, account, main })
        return reply({ request, set }, { page, fragment: <KeysPanel list={list} /> })
      },
      { needsSession: 'page' },
    )
    .get(
      '/api/portal/keys',
      async ({ request, set, account }) => {
        const query = queryOf(request)
        if (wantsJson(request)) return listView(deps, account, query)
        const { list } = await readViews(deps, account, { query, draft: {} })
        const fragment = <KeysPanel list={list} />
        const seeOther = query.size === 0 ? keysPath : `${keysPath}?${query}`
        return reply({ request, set }, { fragment, seeOther })
      },
      { needsSession: 'action' },
    )
    .post(
      '/api/portal/keys',
      async ({ request, set, account }) => {
        const sent = await readFields(request, { limitBytes: deps.settings.bodyBytes })
        if (!wantsJson(request)) return createForPage(deps, frame, { request, set, account }, sent)
        const asked = { request, who: account, route: 'POST /api/portal/keys' }
        const call = callOf(deps, { ...asked, text: JSON.stringify(sent.value) })
        return answerOnce(deps, { set }, call, async () => {
          const { key, secret } = await createKey(deps, account, sent, onceShown(deps, call, 201))
          const now = deps.clock.now()
          set.status = 201
          return { ...toKeyView(await deps.keys.show(key.id, now), now), secret }
        })
      },
      { needsSession: 'action', parse: 'none' },
    )
    .use(keyPortal(deps, frame))

async function listView(deps: Deps, account: string, query: URLSearchParams) {
  const { items, hasMore } = await listKeys(deps, account, readWanted(query), readPage(query))
  const now = deps.clock.now()
  return toListView({ items: items.map((shown) => toKeyView(shown, now)), hasMore })
}

/** The page with the new secret, or the form as sent with its error. */
async function createForPage(deps: Deps, frame: Frame, context: Context, sent: Fields) {
  const { account } = context
  const draft = draftOf(sent.value)
  try {
    // A reload sends the form again.
    const again = wantsPage(context.request) && (await findMade(deps, account, draft))
    if (again) {
      return reply(context, { fragment: <></>, seeOther: `${keyPath(again.id)}?again=1` })
    }
    const made = await createKey(deps, account, sent)
    const reveal = <Reveal view={await toReveal(deps, made, 'create')} />
    return await showPage(deps, frame, context, { draft: {}, reveal, status: 201 })
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return showPage(deps, frame, context, { draft, refusal, status: refusal.status })
  }
}

type Showing = { draft: Draft; refusal?: Refusal; reveal?: Child; status: number }

/** The whole page for htmx too: inserting the secret would shift the page under the pointer. */
async function showPage(deps: Deps, frame: Frame, context: Context, showing: Showing) {
  const { account } = context
  const { draft, refusal, reveal, status } = showing
  const query = new URLSearchParams()
  const { list, create } = await readViews(deps, account, { query, draft })
  const main = <KeysPage list={list} create={{ ...create, refusal }} reveal={reveal} />
  const page = dashboardPage({ frame, title: 'Keys', here: keysPath, account, main })
  return reply(context, { page: shownAt(page, keysPath), status })
}

type Asked = { query: URLSearchParams; draft: Draft }
type Views = { list: ListView; create: CreateView }

/** The filtered list, and the form of a new key with its token. */
async function readViews(deps: Deps, account: string, { query, draft }: Asked): Promise<Views> {
  const wanted = readWanted(query)
  const page = query.has('after') ? readPage(query) : { limit: defaultPageLimit, after: undefined }
  const now = deps.clock.now()
  const active = await deps.keys.tree(account, now)
  const found = await browseKeys(deps, { account, active }, wanted, page)
  const isFirst = page.after === undefined
  return {
    list: { account, now, wanted, found, isFirst },
    create: { now, draft, parents: active, once: makeFormToken(deps.ids, now) },
  }
}

/** Forms send empty fields; they do not filter. */
function readWanted(query: URLSearchParams): Wanted {
  const state = query.get('state')
    ? readChoice(query, 'state', ['usable', 'paused', 'expired', 'revoked'])
    : undefined
  return { state, name: readText(query, 'name')?.trim() || undefined }
}
