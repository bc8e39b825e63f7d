/** The keys of an account: the pages under `/dashboard/keys` and `/api/portal/keys`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, type KeyScope, whoOf } from '../../kernel/acting.ts'
import { firstPage, toListView } from '../../kernel/pagination.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { SessionRow } from '../../storage/db/schema/schema.ts'
import { answerOnce, callOf } from '../../web/http/answer-once.ts'
import { type Draft, draftOf, type Fields, readFields } from '../../web/http/fields.ts'
import { listQuery, queryOf, readPage, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage, shownAt } from '../../web/ui/layout.tsx'
import { navigates, type ReplyContext, reply } from '../../web/ui/reply.ts'
import { sessionAuth, wantsJson, wantsPage } from '../accounts/needs-session.ts'
import { viewRoutes } from '../accounts/portal/view-routes.tsx'
import { onceShown } from './api/once-shown.ts'
import { browseKeys, listKeys } from './browse.ts'
import { makeFormToken } from './form-token.ts'
import { toKeyView } from './key-view.ts'
import { NewKeyPage } from './portal/create-form.tsx'
import { createKey, findMade } from './portal/create-key.ts'
import { keyPortal } from './portal/key.tsx'
import { KeysPage, KeysPanel, type ListView } from './portal/key-list.tsx'
import { readWanted } from './portal/key-query.ts'
import { keyPath, keysPath, newKeyPath } from './portal/key-state.tsx'
import { secretPage, secretPath, showSecret } from './portal/secret.tsx'

type Context = ReplyContext & { acting: Actor; session: Pick<SessionRow, 'id'> }

export const keysPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'keys-portal' })
    .use(
      viewRoutes(deps, frame, {
        name: 'keys',
        title: 'Keys',
        right: 'keys:read',
        read: ({ acting, query }) => readList(deps, acting, query),
        page: (list) => <KeysPage list={list} />,
        panel: (list) => <KeysPanel list={list} />,
        sendsOn: true,
        json: ({ acting, query }) => listView(deps, acting, query),
      }),
    )
    .use(sessionAuth(deps))
    .get(
      newKeyPath,
      async ({ request, set, acting, session }) => {
        const parent = readText(queryOf(request), 'parent_id')
        const draft: Draft = parent ? { parent_id: parent } : {}
        return showForm(deps, frame, { request, set, acting, session }, { draft })
      },
      { needsSession: { page: 'keys:write' } },
    )
    .post(
      '/api/portal/keys',
      async ({ request, set, acting, session }) => {
        const sent = await readFields(request, { limitBytes: deps.settings.bodyBytes })
        if (!wantsJson(request)) {
          return createForPage(deps, frame, { request, set, acting, session }, sent)
        }
        const asked = { request, who: whoOf(acting), route: 'POST /api/portal/keys' }
        const call = callOf(deps, { ...asked, text: JSON.stringify(sent.value) })
        return answerOnce(deps, { set }, call, async () => {
          const { key, secret } = await createKey(deps, acting, sent, onceShown(deps, call, 201))
          const now = deps.clock.now()
          set.status = 201
          return { ...toKeyView(await deps.keys.show(key.id, now), now), secret }
        })
      },
      { needsSession: { action: 'keys:write' }, parse: 'none' },
    )
    .use(secretPage(deps, frame))
    .use(keyPortal(deps, frame))

async function listView(deps: Deps, whose: KeyScope, query: URLSearchParams) {
  const { items, hasMore } = await listKeys(deps, whose, readWanted(query), readPage(query))
  const now = deps.clock.now()
  return toListView({ items: items.map((shown) => toKeyView(shown, now)), hasMore })
}

/** The new secret, or the form as sent with its error. */
async function createForPage(deps: Deps, frame: Frame, context: Context, sent: Fields) {
  const { acting } = context
  const draft = draftOf(sent.value)
  try {
    // A reload sends the form again.
    const again = wantsPage(context.request) && (await findMade(deps, acting, draft))
    if (again) {
      const seeOther = navigates(context.request)
        ? secretPath(again.id)
        : `${keyPath(again.id)}?again=1`
      return reply(context, { fragment: <></>, seeOther })
    }
    const made = await createKey(deps, acting, sent)
    return await showSecret(deps, frame, context, { made, by: 'create', status: 201 })
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return showForm(deps, frame, context, { draft, refusal })
  }
}

type FormState = { draft: Draft; refusal?: Refusal }

/** The page of the form, blank or as sent with its error. */
async function showForm(deps: Deps, frame: Frame, context: Context, showing: FormState) {
  const { acting } = context
  const { draft, refusal } = showing
  const now = deps.clock.now()
  const parents = await deps.keys.tree(acting, now)
  const once = makeFormToken(deps.ids, now)
  const main = <NewKeyPage view={{ now, draft, parents, branch: acting.branch, once, refusal }} />
  const page = dashboardPage({
    frame,
    title: 'New key',
    here: keysPath,
    acting,
    main,
    scripts: ['hx-sse'],
  })
  const status = refusal ? { status: refusal.status } : {}
  return reply(context, { page: refusal ? shownAt(page, newKeyPath) : page, ...status })
}

/** The list, narrowed as asked. */
async function readList(deps: Deps, whose: KeyScope, query: URLSearchParams): Promise<ListView> {
  const wanted = readWanted(query)
  const page = query.has('after') ? readPage(listQuery(query)) : firstPage
  const now = deps.clock.now()
  const active = await deps.keys.tree(whose, now)
  const found = await browseKeys(deps, { whose, active }, wanted, page)
  return { account: whose.account, now, wanted, found, isFirst: page.after === undefined }
}
