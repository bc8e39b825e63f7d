/** The usage of an account: page, JSON and file. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../access/accounts/needs-session.ts'
import { viewRoutes } from '../../access/accounts/portal/view-routes.tsx'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, zoneOf } from '../../kernel/acting.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { downloadResponse } from '../../web/http/download.ts'
import { queryOf } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { readPageQuery } from './api/page-query.ts'
import { readExportQuery, readReportQuery } from './api/usage-query.ts'
import { exportUsage, manifestOf } from './export.ts'
import { exportTally } from './manifest.ts'
import { UsagePage, type UsageView } from './portal/usage-report.tsx'
import { readReport } from './report.ts'
import { mineOnly, usageOf } from './sum.ts'
import { toUsageView } from './usage-view.ts'

/** The most keys in the form's list. */
const keysMax = 100

/** The usage of an account: the page, the same as JSON, and every run of a range as a file. */
export const usagePortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'usage-portal' })
    .use(
      viewRoutes<UsageView>(deps, frame, {
        name: 'usage',
        title: 'Usage',
        right: 'usage:read',
        isFiltered: true,
        read: ({ acting, query }) => viewOf(deps, acting, query),
        page: (view) => <UsagePage view={view} />,
        panel: (view) => <UsagePage view={view} />,
        refusalOf,
        json: async ({ acting, query }) => {
          const { page: _, ...wish } = readReportQuery(query, deps.clock.now())
          return toUsageView(await usageOf(deps, { ...(await whoseOf(deps, acting)), ...wish }))
        },
      }),
    )
    .use(sessionAuth(deps))
    .get(
      '/api/portal/usage/export',
      async ({ request, server, set, acting }) => {
        const wish = readExportQuery(queryOf(request))
        const file = await exportUsage(
          deps,
          { ...(await whoseOf(deps, acting)), ...wish },
          {
            tally: exportTally(deps),
          },
        )
        set.headers['x-as-of'] = String(file.asOf)
        return downloadResponse({ request, server, set }, file, {
          onBug: (error) => deps.log.error('usage.export_failed', error),
        })
      },
      { needsSession: { action: 'usage:read' } },
    )
    .get(
      '/api/portal/usage/export/manifest',
      async ({ request, acting }) => {
        const wish = readExportQuery(queryOf(request))
        const asked = { ...(await whoseOf(deps, acting)), ...wish }
        return manifestOf(deps, asked, exportTally(deps), request.signal)
      },
      { needsSession: { action: 'usage:read' } },
    )

/** A developer's usage is that of the keys of the branch. */
async function whoseOf({ keys }: Deps, { account, branch }: Actor) {
  return branch === undefined ? { account } : { account, keyIds: await keys.ofBranch(branch) }
}

/** The request stays on the page, with its fault. */
async function viewOf(deps: Deps, acting: Actor, query: URLSearchParams): Promise<UsageView> {
  const now = deps.clock.now()
  const zone = zoneOf(acting)
  const keys = await deps.runs.keysToChoose(acting, keysMax + 1)
  const view = {
    account: acting.account,
    ...{ now, zone, query },
    keys: keys.length > keysMax ? undefined : keys,
  }
  try {
    const { key, ...wish } = readPageQuery(query, now, zone)
    const whose = await whoseOf(deps, acting)
    const only = key !== undefined && {
      keyIds: [key].filter((id) => mineOnly(whose)({ keyId: id })),
    }
    return { ...view, found: await readReport(deps, { ...whose, ...only, ...wish, zone }) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'invalid_request') throw error
    return { ...view, found: error }
  }
}

function refusalOf({ found }: UsageView): Refusal | undefined {
  if (found instanceof Refusal) return found
  return found.table instanceof Refusal ? found.table : undefined
}
