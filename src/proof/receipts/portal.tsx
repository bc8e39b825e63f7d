/** An account's receipts in the browser: the list, each one, its share and its erasure. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { type ListSource, listRoutes } from '../../access/accounts/portal/list-routes.tsx'
import { accountListedSince } from '../../access/plan-history.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, type KeyScope, may, zoneOf } from '../../kernel/acting.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { firstIdAt, isId } from '../../kernel/ids.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { ReceiptFile } from '../../verify/receipt.ts'
import { readFields } from '../../web/http/fields.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { shortId } from '../../web/ui/hash.tsx'
import type { Markup } from '../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { reply } from '../../web/ui/reply.ts'
import { ownEvidence } from '../upstream-evidence/known-evidence.ts'
import { ownReceiptQuery, readReceiptFilter } from './api/receipt-query.ts'
import { readShareBody } from './api/share.ts'
import { awaitedRun } from './awaited.ts'
import { eraseReceipt } from './erase.ts'
import { judgeStored } from './judge.ts'
import { ReceiptPage } from './pages/receipt.tsx'
import { findOwn, ownFiles } from './portal/own-files.ts'
import { receiptFields } from './portal/receipt-csv.ts'
import { listPath, ownPath, receiptsLook } from './portal/receipt-list.tsx'
import { type ShareForm, shareBodyOf } from './portal/share-form.ts'
import { ErasePage, OwnPanels, type OwnView } from './portal/share-panel.tsx'
import type { Ended } from './receipt.ts'
import { isErased, receiptIdOf } from './receipt.ts'
import { ownFileOf } from './receipt-file.ts'
import { shareReceipt, textNames, toShareView } from './share.ts'
import { type ShownReceipt, toShown, toShownView } from './shown-receipt.ts'

/** An account's receipts: their list, each of them whole, and who else may see it. */
export const receiptsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'receipts-portal' })
    .use(
      listRoutes(deps, frame, {
        name: 'receipts',
        right: 'receipts:read',
        query: ownReceiptQuery,
        look: receiptsLook,
        readMore: async (acting) => ({
          models: deps.catalogue.list().map(({ id }) => id),
          zone: zoneOf(acting),
        }),
        open: (acting, query) => openList(deps, acting, query),
        toView: toShownView,
        file: receiptFields,
      }),
    )
    .use(sessionAuth(deps))
    .get(
      `${listPath}/:id`,
      async ({ request, set, acting, params }) => {
        const ended = await findOwn(deps, acting, params.id)
        return reply({ request, set }, { page: await ownPage(deps, { frame, acting }, ended) })
      },
      { needsSession: { page: 'receipts:read' } },
    )
    .get(
      `${listPath}/:id/erase`,
      async ({ request, set, acting, params }) => {
        const ended = await findOwn(deps, acting, params.id)
        return reply({ request, set }, { page: await erasePage(deps, { frame, acting }, ended) })
      },
      { needsSession: { page: 'receipts:erase' } },
    )
    .use(receiptActions(deps, frame))

/** `/api/portal/receipts`: the same as JSON, as a fragment, and what changes them. */
const receiptActions = (deps: Deps, frame: Frame) => {
  const acts = (right: 'receipts:share' | 'receipts:erase') =>
    ({ needsSession: { action: right }, parse: 'none' }) as const
  return new Elysia({ name: 'receipt-actions' })
    .use(sessionAuth(deps))
    .use(ownFiles(deps))
    .get(
      '/api/portal/receipts/:id',
      async ({ acting, params }) => {
        const ended = await findOwn(deps, acting, params.id)
        const share = toShareView(params.id, await deps.shares.find(params.id), deps.settings)
        const file = await ownFileOf(deps, ended, await deps.texts.find(ended.id))
        return { ...file, visibility: share.visibility, share }
      },
      { needsSession: { action: 'receipts:read' } },
    )
    .post(
      '/api/portal/receipts/:id/share',
      async ({ request, set, account, acting, params }) => {
        const { id } = params
        const ended = await findOwn(deps, acting, id)
        const fields = await readFields(request, { limitBytes: deps.settings.bodyBytes })
        const asked = fields.isForm ? (fields.value as ShareForm) : undefined
        try {
          const wish = readShareBody(shareBodyOf(fields))
          await shareReceipt(deps, { ...wish, account, receiptId: id, actor: acting.wallet })
        } catch (error) {
          if (wantsJson(request) || !(error instanceof Refusal)) throw error
          const said = { asked, refusal: error }
          const fragment = <OwnPanels view={{ ...(await ownView(deps, ended)), ...said }} />
          const page = await ownPage(deps, { frame, acting }, ended, said)
          return reply({ request, set }, { page, fragment, status: error.status })
        }
        const now = await findOwn(deps, acting, id)
        if (wantsJson(request)) {
          return toShareView(id, await deps.shares.find(id), deps.settings)
        }
        const fragment = <OwnPanels view={await ownView(deps, now)} />
        const isShared = (await deps.shares.find(id)) !== undefined
        const done = { what: isShared ? 'receipt_shared' : 'receipt_hidden', id } as const
        return reply({ request, set }, { fragment, seeOther: `${ownPath(id)}#share`, done })
      },
      acts('receipts:share'),
    )
    .post(
      '/api/portal/receipts/:id/erase',
      async ({ request, set, account, acting, params }) => {
        const { id } = params
        const ended = await findOwn(deps, acting, id)
        try {
          const at = await eraseReceipt(deps, { account, receiptId: id, actor: acting.wallet })
          if (wantsJson(request)) {
            return { object: 'erasure', receipt_id: id, erased_at: toRfc3339(at) }
          }
        } catch (error) {
          if (wantsJson(request) || !(error instanceof Refusal)) throw error
          const page = await erasePage(deps, { frame, acting }, ended, error)
          return reply({ request, set }, { page, status: error.status })
        }
        const now = await findOwn(deps, acting, id)
        const fragment = <OwnPanels view={await ownView(deps, now)} />
        const done = { what: 'texts_erased' } as const
        return reply({ request, set }, { fragment, seeOther: ownPath(id), done })
      },
      acts('receipts:erase'),
    )
}

type Reader = KeyScope & Pick<Actor, 'zone'>

/** The account's receipts as far back as the plan says, narrowed. */
async function openList(
  deps: Deps,
  whose: Reader,
  query: URLSearchParams,
): Promise<ListSource<ShownReceipt>> {
  const filter = await listedFilter(deps, whose, query)
  const show = async ({ items, next }: { items: Ended[]; next: string | undefined }) => {
    return { items: await toShown(deps, whose.account, items), next }
  }
  return {
    list: async (page) => show(await deps.receipts.listShown(whose, filter, page)),
    listCostliest: async (limit) => show(await deps.receipts.listCostliest(whose, filter, limit)),
    assertPlace: async (after) => {
      if (isId('rcpt', after)) return
      const message = '"after" must be the id of a receipt.'
      refuse('invalid_request', { param: 'after', message })
    },
  }
}

async function listedFilter(deps: Deps, whose: Reader, query: URLSearchParams) {
  const filter = readReceiptFilter(query, deps, whose.zone)
  // One that is named whole is found however old it is.
  if (filter.since === filter.upTo) return filter
  const listed = firstIdAt('run', await accountListedSince(deps, whose.account), deps.ids.mark)
  return filter.since < listed ? { ...filter, since: listed } : filter
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

type PageNotice = Pick<OwnView, 'asked' | 'refusal'>
/** The frame of a page and who looks at it. */
type PageContext = { frame: Frame; acting: Actor }

async function ownPage(deps: Deps, around: PageContext, ended: Ended, said: PageNotice = {}) {
  const own = await ownView(deps, ended)
  const known = await ownEvidence(deps, ended)
  const view = {
    judged: await judgeStored(deps, ended, own.file, known?.file),
    baseUrl: own.baseUrl,
    path: ownPath(own.id),
    filePath: `/api/portal/receipts/${own.id}/file`,
    isShared: false,
    evidence: known && { known, path: `/api/portal/receipts/${own.id}/evidence` },
    awaited: may(around.acting, 'settings:write') ? await awaitedRun(deps, ended) : undefined,
    aside: <OwnPanels view={{ ...own, ...said }} />,
  }
  return inDashboard(around, ended, <ReceiptPage view={view} />, ['receipt'])
}

async function erasePage(deps: Deps, around: PageContext, ended: Ended, refusal?: Refusal) {
  const view = { ...(await ownView(deps, ended)), refusal }
  return inDashboard(around, ended, <ErasePage view={view} />)
}

function inDashboard(around: PageContext, ended: Ended, main: Markup, scripts: string[] = []) {
  const title = `Receipt ${shortId(receiptIdOf(ended.id))}`
  return dashboardPage({ ...around, title, here: listPath, main, scripts })
}
