/** The operator's pages and their JSON under `/api/portal/admin`. */
import { Elysia } from 'elysia'
import type { Deps, Reloaded } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import { queryOf, readPage, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { statusOf } from '../status/api.ts'
import { readAddress } from './api/operator-lists.ts'
import { type Audited, ledgerAuditor } from './audit-now.ts'
import { findingsOf } from './findings.ts'
import { adminAuth } from './needs-admin.ts'
import { noteAction } from './note.ts'
import { readOperatedModels, toOperatedModels } from './operated-models.ts'
import { adminAccountsPortal } from './portal/accounts.tsx'
import { adminPath, paths } from './portal/admin-frame.tsx'
import { answer, show } from './portal/answer.tsx'
import { type AuditListView, AuditPanel, toAuditView } from './portal/audits.tsx'
import { adminAnchorsPortal, adminDepositsPortal } from './portal/chain.tsx'
import { LedgerPanel } from './portal/ledger.tsx'
import { adminMarginsPortal } from './portal/margins.tsx'
import { ModelPanels, type ModelsView } from './portal/models.tsx'
import { StatusPanel } from './portal/service-status.tsx'

export const adminPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'admin-portal' })
    .use(statusPortal(deps, frame))
    .use(adminAccountsPortal(deps, frame))
    .use(modelsPortal(deps, frame))
    .use(adminMarginsPortal(deps, frame))
    .use(adminAnchorsPortal(deps, frame))
    .use(adminDepositsPortal(deps, frame))
    .use(ledgerPortal(deps, frame))
    .use(auditPortal(deps, frame))

const statusPortal = (deps: Deps, frame: Frame) => {
  const read = async () => findingsOf(await statusOf(deps), deps.health.ledgerFaults)
  return new Elysia({ name: 'admin-status-portal' })
    .use(adminAuth(deps))
    .get(
      adminPath,
      async ({ request, set, acting }) => {
        const main = <StatusPanel findings={await read()} />
        return show(frame, { request, set, acting }, { title: 'Status', tab: adminPath, main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      '/api/portal/admin',
      async ({ request, set }) => {
        const findings = await read()
        const json = () => ({ object: 'list', data: findings })
        const fragment = <StatusPanel findings={findings} />
        return answer({ request, set }, { json, fragment, seeOther: adminPath })
      },
      { needsAdmin: 'action' },
    )
}

const modelsPortal = (deps: Deps, frame: Frame) => {
  let reloaded: Reloaded | undefined
  const read = async (): Promise<ModelsView> => ({
    ...(await readOperatedModels(deps)),
    canReload: deps.reload.again !== undefined,
    reloaded,
    now: deps.clock.now(),
  })
  return new Elysia({ name: 'admin-models-portal' })
    .use(adminAuth(deps))
    .get(
      paths.models,
      async ({ request, set, acting }) => {
        const main = <ModelPanels view={await read()} />
        return show(frame, { request, set, acting }, { title: 'Models', tab: paths.models, main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      '/api/portal/admin/models',
      async ({ request, set }) => {
        const view = await read()
        const json = () => toOperatedModels(view)
        const fragment = <ModelPanels view={view} />
        return answer({ request, set }, { json, fragment, seeOther: paths.models })
      },
      { needsAdmin: 'action' },
    )
    .post(
      '/api/portal/admin/reload',
      async ({ request, set, account: actor }) => {
        const again =
          deps.reload.again ?? refuse('conflict', 'This server cannot reload its configuration.')
        const result = await again()
        reloaded = result
        const detail = 'problems' in result ? { refused: result.problems.length } : result
        await noteAction(deps, { actor, action: 'config.reload', subject: 'configuration', detail })
        const fragment = <ModelPanels view={await read()} />
        return answer({ request, set }, { json: () => result, fragment, seeOther: paths.models })
      },
      { needsAdmin: 'action', parse: 'none' },
    )
}

const ledgerPortal = (deps: Deps, frame: Frame) => {
  const auditor = ledgerAuditor(deps)
  const panel = () => <LedgerPanel view={{ audited: auditor.last(), now: deps.clock.now() }} />
  return new Elysia({ name: 'admin-ledger-portal' })
    .use(adminAuth(deps))
    .get(
      paths.ledger,
      ({ request, set, acting }) => {
        const here = { title: 'Ledger', tab: paths.ledger }
        return show(frame, { request, set, acting }, { ...here, main: panel() })
      },
      { needsAdmin: 'page' },
    )
    .get(
      '/api/portal/admin/ledger',
      ({ request, set }) => {
        const json = () => toAuditedView(auditor.last())
        return answer({ request, set }, { json, fragment: panel(), seeOther: paths.ledger })
      },
      { needsAdmin: 'action' },
    )
    .post(
      '/api/portal/admin/ledger/audit',
      async ({ request, set, account }) => {
        const audited = await auditor.now(account)
        const json = () => toAuditedView(audited)
        return answer({ request, set }, { json, fragment: panel(), seeOther: paths.ledger })
      },
      { needsAdmin: 'action', parse: 'none' },
    )
}

const toAuditedView = (audited: Audited | undefined) => ({
  object: 'ledger_audit',
  at: audited ? toRfc3339(audited.at) : null,
  balanced: audited ? audited.faults.length === 0 : null,
  faults: audited?.faults ?? [],
  sides: Object.fromEntries(
    Object.entries(audited?.sides ?? {}).map(([side, sum]) => [side, toJsonInteger(sum)]),
  ),
})

const auditPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'admin-audit-portal' })
    .use(adminAuth(deps))
    .get(
      paths.auditLog,
      async ({ request, set, acting }) => {
        const main = <AuditPanel view={await readAudit(deps, request)} />
        const here = { title: 'Audit log', tab: paths.auditLog }
        return show(frame, { request, set, acting }, { ...here, main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      '/api/portal/admin/audit-log',
      async ({ request, set }) => {
        const view = await readAudit(deps, request)
        const items = view.found.items.map(toAuditView)
        const json = () => toListView({ ...view.found, items })
        const fragment = <AuditPanel view={view} />
        return answer({ request, set }, { json, fragment, seeOther: paths.auditLog })
      },
      { needsAdmin: 'action' },
    )

async function readAudit(deps: Deps, request: Request): Promise<AuditListView> {
  const query = queryOf(request)
  const typed = readText(query, 'account')?.trim() ?? ''
  const account = typed === '' ? undefined : readAddress(typed)
  const page = readPage(query)
  if (page.after !== undefined && !isId('req', page.after)) {
    refuse('invalid_request', { message: 'No such entry.', param: 'after' })
  }
  const found = await deps.admin.audit({ ...page, account })
  return { found, now: deps.clock.now(), account, isFirst: page.after === undefined }
}
