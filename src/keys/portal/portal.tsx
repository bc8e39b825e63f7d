import { Elysia } from 'elysia'
import { sessionAuth, wantsJson, wantsPage } from '../../accounts/auth.ts'
import type { Deps } from '../../deps.ts'
import { type Fields, readFields } from '../../http/form.ts'
import { queryOf, readChoice, readPage, readText } from '../../http/query.ts'
import { defaultPageLimit, toListView } from '../../kernel/page.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { Frame } from '../../ui/frame.ts'
import type { Child } from '../../ui/jsx-runtime.ts'
import { dashboardPage } from '../../ui/layout.tsx'
import { type ReplyContext, reply } from '../../ui/reply.ts'
import { browseKeys, listKeys, type Wanted } from '../browse.ts'
import { makeOnce } from '../once.ts'
import { toKeyView } from '../view.ts'
import { createKey, findMade, toReveal } from './create-api.ts'
import type { CreateView } from './create-pages.tsx'
import { type Draft, draftOf } from './form-api.ts'
import { keyPortal, shownAt } from './key-portal.tsx'
import { KeysPage, KeysPanel, type ListView } from './list-pages.tsx'
import { Reveal } from './reveal-pages.tsx'
import { keyPath, keysPath } from './state-pages.tsx'

type Needs = Pick<
  Deps,
  | 'keys'
  | 'accounts'
  | 'sessions'
  | 'ledger'
  | 'ids'
  | 'random'
  | 'clock'
  | 'catalogue'
  | 'settings'
  | 'log'
  | 'plans'
>
type Context = ReplyContext & { account: string }

/** An account's own keys: their pages under `/dashboard/keys`, and `/api/portal/keys`. */
export const keysPortal = (deps: Needs, frame: Frame) =>
  new Elysia({ name: 'keys-portal' })
    .use(sessionAuth(deps))
    .get(
      keysPath,
      async ({ request, set, account }) => {
        const query = queryOf(request)
        const list = await readList(deps, account, query)
        const parent = readText(query, 'parent_id')
        const create = await blankForm(deps, account, parent ? { parent_id: parent } : {})
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
        const fragment = <KeysPanel list={await readList(deps, account, query)} />
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
        const { key, secret } = await createKey(deps, account, sent)
        const now = deps.clock.now()
        set.status = 201
        return { ...toKeyView(await deps.keys.show(key.id, now), now), secret }
      },
      { needsSession: 'action', parse: 'none' },
    )
    .use(keyPortal(deps, frame))

async function listView(deps: Needs, account: string, query: URLSearchParams) {
  const { items, hasMore } = await listKeys(deps, account, readWanted(query), readPage(query))
  const now = deps.clock.now()
  return toListView({ items: items.map((shown) => toKeyView(shown, now)), hasMore })
}

/** The page with the secret, or the form as it was sent with what is wrong. */
async function createForPage(deps: Needs, frame: Frame, context: Context, sent: Fields) {
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
    const create = await blankForm(deps, account, {})
    return await showPage(deps, frame, context, { create, reveal, status: 201 })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const create = { ...(await blankForm(deps, account, draft)), refusal: error }
    return showPage(deps, frame, context, { create, status: error.status })
  }
}

type Showing = { create: CreateView; reveal?: Child; status: number }

/** The whole page also to htmx: what moves down for a secret would shift under somebody's hand. */
async function showPage(deps: Needs, frame: Frame, context: Context, showing: Showing) {
  const { account } = context
  const { create, reveal, status } = showing
  const list = await readList(deps, account, new URLSearchParams())
  const main = <KeysPage list={list} create={create} reveal={reveal} />
  const page = dashboardPage({ frame, title: 'Keys', here: keysPath, account, main })
  return reply(context, { page: shownAt(page, keysPath), status })
}

async function readList(deps: Needs, account: string, query: URLSearchParams): Promise<ListView> {
  const wanted = readWanted(query)
  const page = query.has('after') ? readPage(query) : { limit: defaultPageLimit, after: undefined }
  const found = await browseKeys(deps, account, wanted, page)
  return { account, now: deps.clock.now(), wanted, found, isFirst: page.after === undefined }
}

/** A form leaves out nothing: what is empty is not asked for. */
function readWanted(query: URLSearchParams): Wanted {
  const state = query.get('state')
    ? readChoice(query, 'state', ['usable', 'paused', 'expired', 'revoked'])
    : undefined
  return { state, name: readText(query, 'name')?.trim() || undefined }
}

/** The form of a new key with a token of its own, whatever stands in it. */
async function blankForm(deps: Needs, account: string, draft: Draft): Promise<CreateView> {
  const now = deps.clock.now()
  const parents = await deps.keys.tree(account, now)
  return { now, draft, parents, once: makeOnce(deps.ids, now) }
}
