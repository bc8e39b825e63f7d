/** The statement of an account: page, JSON and file. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../access/accounts/needs-session.ts'
import { viewRoutes } from '../../access/accounts/portal/view-routes.tsx'
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import { type PageRequest, toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import { parseDate } from '../../kernel/time-text.ts'
import { dayOfDate, utcZone } from '../../kernel/zone.ts'
import { downloadResponse } from '../../web/http/download.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { readDays } from './days.ts'
import { exportStatement } from './export.ts'
import { type Place, readPlace } from './movement.ts'
import { StatementPage, StatementPanel, type StatementView } from './portal/statement.tsx'
import { statementQuery } from './portal/statement-query.ts'
import { toDayView, toMovementView } from './statement-view.ts'

/** Everything that moved the money of an account: the page, the same as JSON, and as a file. */
export const statementPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'statement-portal' })
    .use(
      viewRoutes(deps, frame, {
        name: 'statement',
        title: 'Statement',
        right: 'statement:read',
        read: ({ acting, query }) => viewOf(deps, acting, query),
        page: (view) => <StatementPage view={view} />,
        panel: (view) => <StatementPanel view={view} />,
        json: ({ acting, query }) => jsonOf(deps, acting.account, query),
      }),
    )
    .use(sessionAuth(deps))
    .get(
      '/api/portal/statement/export',
      async ({ request, server, set, account }) => {
        const file = await exportStatement(deps, account)
        set.headers['x-as-of'] = String(file.asOf)
        return downloadResponse({ request, server, set }, file, {
          onBug: (error) => deps.log.error('statement.export_failed', error),
        })
      },
      { needsSession: { action: 'statement:read' } },
    )

async function jsonOf(deps: Deps, account: string, query: URLSearchParams) {
  const { by, limit, ...place } = statementQuery.read(query)
  if (by === 'day') {
    const { days, hasMore } = await readDays(deps, account, { before: readDay(place), limit })
    return toListView({ items: days.map(toDayView), hasMore })
  }
  const after = await readAfter(deps, account, place)
  const { items, hasMore } = await deps.statements.list(account, { limit, after })
  return toListView({ items: items.map(toMovementView), hasMore })
}

async function viewOf(
  deps: Deps,
  { account: accountId, zone = utcZone }: Actor,
  query: URLSearchParams,
): Promise<StatementView> {
  const account = await deps.accounts.find(accountId)
  if (!account) throw new Error('a session without an account')
  const { by, limit, ...place } = statementQuery.read(query)
  const view = { account, zone, isFirst: place.after === undefined }
  if (by === 'movement') {
    const after = await readAfter(deps, accountId, place)
    return { ...view, ...(await deps.statements.list(accountId, { limit, after })) }
  }
  const before = readDay(place, zone)
  return { ...view, ...(await readDays(deps, accountId, { before, limit, zone })) }
}

/** @throws Refusal 'invalid_request' for a line that is not there. */
async function readAfter(
  { statements }: Deps,
  account: string,
  { after }: Pick<PageRequest, 'after'>,
): Promise<Place | undefined> {
  if (after === undefined) return undefined
  const place = readPlace(after)
  if (place && (await statements.find(account, place))) return place
  refuse('invalid_request', { param: 'after', message: 'There is no such movement.' })
}

/** The day that a list of days goes on after. @throws Refusal 'invalid_request' */
function readDay({ after }: Pick<PageRequest, 'after'>, zone = utcZone): Millis | undefined {
  if (after === undefined) return undefined
  const day = parseDate(after)
  if (day !== undefined) return dayOfDate(zone, day)
  refuse('invalid_request', { param: 'after', message: '"after" must be a day: 2026-11-21.' })
}
