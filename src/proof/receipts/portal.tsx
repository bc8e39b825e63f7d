/** An account's receipts in the browser: the list, each one, its share and its erasure. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { accountListedSince } from '../../access/plan-history.ts'
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { firstIdAt, isId } from '../../kernel/ids.ts'
import { toListView } from '../../kernel/pagination.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { ReceiptFile } from '../../verify/receipt.ts'
import { readFields } from '../../web/http/fields.ts'
import {
  addressOf,
  queryOf,
  readChoice,
  readPage,
  readText,
  tidyAddress,
  withoutEmpty,
} from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { shortId } from '../../web/ui/hash.tsx'
import type { Markup } from '../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { pushAddress, reply } from '../../web/ui/reply.ts'
import { readShareBody } from './api/share.ts'
import { awaitedRun } from './awaited.ts'
import { eraseReceipt } from './erase.ts'
import { judgeStored } from './judge.ts'
import { ReceiptPage } from './pages/receipt.tsx'
import { asFile } from './pages.tsx'
import {
  isFollowed,
  listPath,
  ownPath,
  ReceiptsPage,
  ReceiptsPanel,
  type ReceiptsView,
} from './portal/receipt-list.tsx'
import { type ShareForm, shareBodyOf } from './portal/share-form.ts'
import { ErasePage, OwnPanels, type OwnView } from './portal/share-panel.tsx'
import type { Ended } from './receipt.ts'
import { isErased, receiptIdOf } from './receipt.ts'
import { ownFileOf } from './receipt-file.ts'
import { visibilities } from './receipts.ts'
import { shareReceipt, textNames, toShareView } from './share.ts'
import { toShown, toShownView } from './shown-receipt.ts'

/** An account's receipts: their list, each of them whole, and who else may see it. */
export const receiptsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'receipts-portal' })
    .use(sessionAuth(deps))
    .get(
      listPath,
      async ({ request, set, account }) => {
        const query = queryOf(request)
        const tidy = tidyAddress(listPath, query)
        if (tidy !== undefined && !isHtmx(request)) {
          set.status = 303
          set.headers['location'] = tidy
          return ''
        }
        const view = await viewOf(deps, account, query)
        if (isHtmx(request)) pushAddress({ request, set }, tidy ?? addressOf(listPath, query))
        const main = <ReceiptsPage view={view} />
        const shown = { frame, title: 'Receipts', here: listPath, account, main }
        const page = dashboardPage({ ...shown, scripts: isFollowed(view) ? ['live-list'] : [] })
        const status = view.refusal ? { status: view.refusal.status } : {}
        return reply({ request, set }, { page, fragment: <ReceiptsPanel view={view} />, ...status })
      },
      { needsSession: 'page' },
    )
    .get(
      `${listPath}/:id`,
      async ({ request, set, account, params }) => {
        const ended = await findOwn(deps, account, params.id)
        return reply({ request, set }, { page: await ownPage(deps, frame, ended) })
      },
      { needsSession: 'page' },
    )
    .get(
      `${listPath}/:id/erase`,
      async ({ request, set, account, params }) => {
        const ended = await findOwn(deps, account, params.id)
        return reply({ request, set }, { page: await erasePage(deps, frame, ended) })
      },
      { needsSession: 'page' },
    )
    .use(receiptActions(deps, frame))

/** `/api/portal/receipts`: the same as JSON, as a fragment, and what changes them. */
const receiptActions = (deps: Deps, frame: Frame) => {
  const acts = { needsSession: 'action', parse: 'none' } as const
  return new Elysia({ name: 'receipt-actions' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/receipts',
      async ({ request, set, account }) => {
        if (isHtmx(request)) {
          const view = await viewOf(deps, account, queryOf(request))
          if (view.refusal) throw view.refusal
          const fragment = <ReceiptsPanel view={view} />
          return reply({ request, set }, { fragment, seeOther: listPath })
        }
        const { items, next } = await readList(deps, account, queryOf(request))
        const list = toListView({ items: items.map(toShownView), hasMore: next !== undefined })
        // With a filter a page may end before its last match does: it goes on from there.
        return { ...list, last_id: next ?? list.last_id }
      },
      { needsSession: 'action' },
    )
    .get(
      '/api/portal/receipts/:id',
      async ({ account, params }) => {
        const ended = await findOwn(deps, account, params.id)
        const share = toShareView(params.id, await deps.shares.find(params.id), deps.settings)
        const file = await ownFileOf(deps, ended, await deps.texts.find(ended.id))
        return { ...file, visibility: share.visibility, share }
      },
      { needsSession: 'action' },
    )
    .get(
      '/api/portal/receipts/:id/file',
      async ({ account, params, set }) => {
        const ended = await findOwn(deps, account, params.id)
        set.headers['content-disposition'] = asFile(`${params.id}.receipt.json`)
        return ownFileOf(deps, ended, await deps.texts.find(ended.id))
      },
      { needsSession: 'action' },
    )
    .post(
      '/api/portal/receipts/:id/share',
      async ({ request, set, account, params }) => {
        const { id } = params
        const ended = await findOwn(deps, account, id)
        const fields = await readFields(request, { limitBytes: deps.settings.bodyBytes })
        const asked = fields.isForm ? (fields.value as ShareForm) : undefined
        try {
          const wish = readShareBody(shareBodyOf(fields))
          await shareReceipt(deps, { ...wish, account, receiptId: id, actor: account })
        } catch (error) {
          if (wantsJson(request) || !(error instanceof Refusal)) throw error
          const said = { asked, refusal: error }
          const fragment = <OwnPanels view={{ ...(await ownView(deps, ended)), ...said }} />
          const page = await ownPage(deps, frame, ended, said)
          return reply({ request, set }, { page, fragment, status: error.status })
        }
        const now = await findOwn(deps, account, id)
        if (wantsJson(request)) {
          return toShareView(id, await deps.shares.find(id), deps.settings)
        }
        const fragment = <OwnPanels view={await ownView(deps, now)} />
        const isShared = (await deps.shares.find(id)) !== undefined
        const done = { what: isShared ? 'receipt_shared' : 'receipt_hidden', id } as const
        return reply({ request, set }, { fragment, seeOther: `${ownPath(id)}#share`, done })
      },
      acts,
    )
    .post(
      '/api/portal/receipts/:id/erase',
      async ({ request, set, account, params }) => {
        const { id } = params
        const ended = await findOwn(deps, account, id)
        try {
          const at = await eraseReceipt(deps, { account, receiptId: id, actor: account })
          if (wantsJson(request)) {
            return { object: 'erasure', receipt_id: id, erased_at: toRfc3339(at) }
          }
        } catch (error) {
          if (wantsJson(request) || !(error instanceof Refusal)) throw error
          const page = await erasePage(deps, frame, ended, error)
          return reply({ request, set }, { page, status: error.status })
        }
        const now = await findOwn(deps, account, id)
        const fragment = <OwnPanels view={await ownView(deps, now)} />
        const done = { what: 'texts_erased' } as const
        return reply({ request, set }, { fragment, seeOther: ownPath(id), done })
      },
      acts,
    )
}

const isHtmx = ({ headers }: Request): boolean => headers.get('hx-request') === 'true'

/** @throws Refusal `receipt_not_found`, the same for a receipt of others as for none. */
async function findOwn({ receipts }: Deps, account: string, id: string): Promise<Ended> {
  const found = isId('rcpt', id) ? await receipts.find(id) : undefined
  return found?.accountId === account ? found : refuse('receipt_not_found')
}

const filterNames = ['visibility', 'model', 'limit'] as const

async function readList(deps: Deps, account: string, asked: URLSearchParams) {
  const query = withoutEmpty(asked)
  const page = readPage(query)
  if (page.after !== undefined && !isId('rcpt', page.after)) {
    refuse('invalid_request', { param: 'after', message: '"after" must be the id of a receipt.' })
  }
  const visibility = readChoice(query, 'visibility', visibilities)
  const since = firstIdAt('run', await accountListedSince(deps, account))
  const filter = { visibility, model: readText(query, 'model'), since }
  const { items, next } = await deps.receipts.listShown(account, filter, page)
  return { items: await toShown(deps, account, items), next, isFirst: page.after === undefined }
}

/** The list as its page shows it; a filter that cannot be read is said there. */
async function viewOf(deps: Deps, account: string, asked: URLSearchParams): Promise<ReceiptsView> {
  const kept = filterNames.flatMap((name): [string, string][] => {
    const value = asked.get(name)
    return value ? [[name, value]] : []
  })
  const models = deps.catalogue.list().map(({ id }) => id)
  const base = { account, now: deps.clock.now(), query: new URLSearchParams(kept), models }
  try {
    return { ...base, ...(await readList(deps, account, asked)) }
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return { ...base, items: [], next: undefined, isFirst: true, refusal }
  }
}

async function ownView(deps: Deps, ended: Ended): Promise<OwnView & { file: ReceiptFile }> {
  const texts = await deps.texts.find(ended.id)
  const file = await ownFileOf(deps, ended, texts)
  const { id } = file.receipt
  const named = textNames.filter((name) => file.disclosures?.[name] !== undefined)
  return {
    id,
    file,
    baseUrl: deps.settings.baseUrl,
    share: await deps.shares.find(id),
    committed: named,
    kept: named.filter((name) => file.disclosures?.[name]?.value !== undefined),
    isErased: isErased(ended),
  }
}

type Said = Pick<OwnView, 'asked' | 'refusal'>

async function ownPage(deps: Deps, frame: Frame, ended: Ended, said: Said = {}) {
  const own = await ownView(deps, ended)
  const view = {
    judged: await judgeStored(deps, ended, own.file),
    baseUrl: own.baseUrl,
    path: ownPath(own.id),
    filePath: `/api/portal/receipts/${own.id}/file`,
    isShared: false,
    awaited: await awaitedRun(deps, ended),
    aside: <OwnPanels view={{ ...own, ...said }} />,
  }
  return inDashboard(frame, ended, <ReceiptPage view={view} />, ['receipt'])
}

async function erasePage(deps: Deps, frame: Frame, ended: Ended, refusal?: Refusal) {
  const view = { ...(await ownView(deps, ended)), refusal }
  return inDashboard(frame, ended, <ErasePage view={view} />)
}

function inDashboard(frame: Frame, ended: Ended, main: Markup, scripts: string[] = []) {
  const title = `Receipt ${shortId(receiptIdOf(ended.id))}`
  return dashboardPage({ frame, title, here: listPath, account: ended.accountId, main, scripts })
}
