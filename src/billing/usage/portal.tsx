/** The usage of an account: page, JSON and file. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { downloadResponse } from '../../web/http/download.ts'
import { queryOf } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { isHtmx, reply } from '../../web/ui/reply.ts'
import { readExportQuery, readReportQuery } from './api/usage-query.ts'
import { exportUsage, manifestOf } from './export.ts'
import { exportTally } from './manifest.ts'
import { UsageBody, UsagePage, type UsageView, usagePath } from './portal/usage-report.tsx'
import { readReport } from './report.ts'
import { usageOf } from './sum.ts'
import { toUsageView } from './usage-view.ts'

/** The usage of an account: the page, the same as JSON, and every run of a range as a file. */
export const usagePortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'usage-portal' })
    .use(sessionAuth(deps))
    .get(
      usagePath,
      async ({ request, set, acting }) => {
        const view = await viewOf(deps, acting, queryOf(request))
        const main = <UsagePage view={view} />
        const page = dashboardPage({ frame, title: 'Usage', here: usagePath, acting, main })
        return reply({ request, set }, { page, ...statusOf(view) })
      },
      { needsSession: { page: 'usage:read' } },
    )
    .get(
      '/api/portal/usage',
      async ({ request, set, acting }) => {
        if (isHtmx(request)) {
          const view = await viewOf(deps, acting, queryOf(request))
          if (view.found instanceof Refusal) throw view.found
          const fragment = <UsageBody view={view} />
          return reply({ request, set }, { fragment, seeOther: usagePath })
        }
        const { page: _, ...wish } = readReportQuery(queryOf(request), deps.clock.now())
        return toUsageView(await usageOf(deps, { ...(await whoseOf(deps, acting)), ...wish }))
      },
      { needsSession: { action: 'usage:read' } },
    )
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
  const view = { account: acting.account, now, query }
  try {
    const found = await readReport(deps, {
      ...(await whoseOf(deps, acting)),
      ...readReportQuery(query, now),
    })
    return { ...view, found }
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'invalid_request') throw error
    return { ...view, found: error }
  }
}

function statusOf({ found }: UsageView): { status?: number } {
  if (found instanceof Refusal) return { status: found.status }
  return found.table instanceof Refusal ? { status: found.table.status } : {}
}
