/** The operator's routes for anchors and deposits. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { assignDeposit } from '../../../billing/deposits/claim.ts'
import { toDepositView } from '../../../billing/deposits/deposit.ts'
import { isId } from '../../../kernel/ids.ts'
import { toListView } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { toAnchorView } from '../../../proof/anchors/anchor.ts'
import { anchorStatus } from '../../../proof/anchors/anchor-status.ts'
import { isAddress } from '../../../verify/address.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { readFields } from '../../../web/http/fields.ts'
import { readPage } from '../../../web/http/query.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { readDeposits as readFound } from '../api/operator-lists.ts'
import { adminAuth } from '../needs-admin.ts'
import { noteAction } from '../note.ts'
import { assignBody } from '../shapes.ts'
import { paths } from './admin-frame.tsx'
import { AnchorPanels, type AnchorsView } from './anchors.tsx'
import { adminView, answer, bodyBytes, show, trimmed } from './answer.tsx'
import { AssignPanel, DepositsPanel, type DepositsView } from './deposits.tsx'

const depositsHere = { title: 'Deposits', tab: paths.deposits }

export const adminAnchorsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'admin-anchors-portal' })
    .use(
      adminView(deps, frame, {
        title: 'Anchors',
        tab: paths.anchors,
        read: (query) => readAnchors(deps, query),
        panel: (view) => <AnchorPanels view={view} />,
        json: ({ found, origin, size, status }) => ({
          ...toListView({ ...found, items: found.items.map(toAnchorView) }),
          log: { origin, size, ...status.log },
          anchors: status.anchors,
        }),
      }),
    )
    .use(adminAuth(deps))
    .post(
      '/api/portal/admin/anchors/now',
      async ({ request, set, account }) => {
        if (!(await deps.anchoring.isOn())) {
          refuse('conflict', 'Anchoring is off: it needs a chain, a sender and a registry.')
        }
        await deps.anchors.want()
        const subject = deps.logs.current.origin
        await noteAction(deps, { actor: account, action: 'anchor.now', subject, detail: {} })
        const fragment = <AnchorPanels view={await readAnchors(deps, new URLSearchParams())} />
        return answer(
          { request, set },
          { json: () => ({ asked: true }), fragment, seeOther: paths.anchors },
        )
      },
      { needsAdmin: 'action', parse: 'none' },
    )

/** All deposits, and assigning one to another account than its sender's. */
export const adminDepositsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'admin-deposits-portal' })
    .use(
      adminView(deps, frame, {
        ...depositsHere,
        read: (query) => readDeposits(deps, query),
        panel: (view) => <DepositsPanel view={view} />,
        json: ({ found }) => toListView({ ...found, items: found.items.map(toDepositView) }),
      }),
    )
    .use(adminAuth(deps))
    .get(
      `${paths.deposits}/:id`,
      async ({ params, request, set, acting }) => {
        const found = isId('dep', params.id) ? await deps.deposits.find(params.id) : undefined
        const main = <AssignPanel row={found ?? refuse('not_found')} now={deps.clock.now()} />
        return show(frame, { request, set, acting }, { ...depositsHere, main })
      },
      { needsAdmin: 'page' },
    )
    .post(
      '/api/portal/admin/deposits/:id/assign',
      async ({ params, request, set, account: actor }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { account, reason } = checkBody(assignBody, trimmed(value))
        if (!isId('dep', params.id)) refuse('not_found', 'No such deposit.')
        if (!isAddress(account)) {
          refuse('invalid_request', { message: 'Enter 0x and 40 hex digits.', param: 'account' })
        }
        const row = await assignDeposit(deps, { id: params.id, account, reason, actor })
        const fragment = <AssignPanel row={row} now={deps.clock.now()} />
        return answer(
          { request, set },
          { json: () => toDepositView(row), fragment, seeOther: paths.deposits },
        )
      },
      { needsAdmin: 'action', parse: 'none' },
    )

async function readAnchors(deps: Deps, query: URLSearchParams): Promise<AnchorsView> {
  const page = readPage(query)
  const { origin } = deps.logs.current
  const found =
    (await deps.anchors.list(origin, page)) ??
    refuse('invalid_request', { message: 'No such anchor.', param: 'after' })
  return {
    found,
    origin,
    now: deps.clock.now(),
    isFirst: page.after === undefined,
    size: await deps.logStore.size(),
    status: await anchorStatus(deps),
    isOn: await deps.anchoring.isOn(),
  }
}

async function readDeposits(deps: Deps, query: URLSearchParams): Promise<DepositsView> {
  const found = await readFound(deps, query)
  return { ...found, now: deps.clock.now(), among: deps.admin.lookedThrough }
}
