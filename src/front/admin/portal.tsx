/** The operator's pages and their JSON under `/api/portal/admin`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import type { ReloadResult } from '../../app/reload-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { auditQuery } from './api/operator-lists.ts'
import { type AuditResult, ledgerAuditor } from './audit-now.ts'
import { adminAuth } from './needs-admin.ts'
import { noteAction } from './note.ts'
import { readOperatedModels, toOperatedModels } from './operated-models.ts'
import { adminAccountsPortal } from './portal/accounts.tsx'
import { adminPath, paths } from './portal/admin-frame.tsx'
import { adminView, answer } from './portal/answer.tsx'
import { type AuditListView, AuditPanel, toAuditView } from './portal/audits.tsx'
import { adminAnchorsPortal, adminDepositsPortal } from './portal/chain.tsx'
import { adminChangesPortal } from './portal/changes.tsx'
import { LedgerPanel } from './portal/ledger.tsx'
import { adminMarginsPortal } from './portal/margins.tsx'
import { ModelPanels, type ModelsView } from './portal/models.tsx'
import { adminProvidersPortal } from './portal/providers.tsx'
import { StatusPanel } from './portal/service-status.tsx'
import { readToday, TodayPage } from './portal/today.tsx'

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

const statusPortal = (deps: Deps, frame: Frame) =>
  adminView(deps, frame, {
    title: 'Today',
    tab: adminPath,
    read: () => readToday(deps),
    panel: ({ findings }) => <StatusPanel findings={findings} />,
    page: (view) => Promise.resolve(<TodayPage view={view} />),
    json: ({ findings }) => ({ object: 'list', data: findings }),
  })

const modelsPortal = (deps: Deps, frame: Frame) => {
  let reloaded: ReloadResult | undefined
  const read = async (): Promise<ModelsView> => ({
    ...(await readOperatedModels(deps)),
    canReload: deps.reload.again !== undefined,
    reloaded,
    now: deps.clock.now(),
  })
  const panel = (view: ModelsView) => <ModelPanels view={view} />
  const here = { title: 'Models and providers', tab: paths.models }
  const noteReload = (result: ReloadResult) => {
    reloaded = result
  }
  return new Elysia({ name: 'admin-models-portal' })
    .use(adminView(deps, frame, { ...here, read, panel, json: toOperatedModels }))
    .use(adminProvidersPortal(deps, frame, noteReload))
    .use(adminChangesPortal(deps, frame, noteReload))
    .use(adminAuth(deps))
    .post(
      '/api/portal/admin/reload',
      async ({ request, set, account: actor }) => {
        const again =
          deps.reload.again ?? refuse('conflict', 'This server cannot reload its configuration.')
        const result = await again()
        reloaded = result
        const detail = 'problems' in result ? { refused: result.problems.length } : result
        await noteAction(deps, { actor, action: 'config.reload', subject: 'configuration', detail })
        const fragment = panel(await read())
        return answer({ request, set }, { json: () => result, fragment, seeOther: paths.models })
      },
      { needsAdmin: 'action', parse: 'none' },
    )
}

const ledgerPortal = (deps: Deps, frame: Frame) => {
  const auditor = ledgerAuditor(deps)
  const panel = (audited: AuditResult | undefined) => (
    <LedgerPanel view={{ audited, now: deps.clock.now() }} />
  )
  const read = () => Promise.resolve(auditor.last())
  const here = { title: 'Ledger', tab: paths.ledger }
  return new Elysia({ name: 'admin-ledger-portal' })
    .use(adminView(deps, frame, { ...here, read, panel, json: toAuditedView }))
    .use(adminAuth(deps))
    .post(
      '/api/portal/admin/ledger/audit',
      async ({ request, set, account }) => {
        const audited = await auditor.now(account)
        const json = () => toAuditedView(audited)
        return answer({ request, set }, { json, fragment: panel(audited), seeOther: paths.ledger })
      },
      { needsAdmin: 'action', parse: 'none' },
    )
}

const toAuditedView = (audited: AuditResult | undefined) => ({
  object: 'ledger_audit',
  at: audited ? toRfc3339(audited.at) : null,
  balanced: audited ? audited.faults.length === 0 : null,
  faults: audited?.faults ?? [],
  sides: Object.fromEntries(
    Object.entries(audited?.sides ?? {}).map(([side, sum]) => [side, toJsonInteger(sum)]),
  ),
})

const auditPortal = (deps: Deps, frame: Frame) =>
  adminView(deps, frame, {
    title: 'Audit log',
    tab: paths.auditLog,
    read: (query) => readAudit(deps, query),
    panel: (view) => <AuditPanel view={view} />,
    json: ({ found }) => toListView({ ...found, items: found.items.map(toAuditView) }),
  })

async function readAudit(deps: Deps, query: URLSearchParams): Promise<AuditListView> {
  const { account, limit, after } = auditQuery.read(query)
  if (after !== undefined && !isId('req', after)) {
    refuse('invalid_request', { message: 'No such entry.', param: 'after' })
  }
  const found = await deps.admin.audit({ limit, after, account })
  return { found, now: deps.clock.now(), account, isFirst: after === undefined }
}
