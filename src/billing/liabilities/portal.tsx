/** The debt to an account in the dashboard: the page, and the file that proves it. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { readNumber } from '../../proof/liabilities/api.ts'
import { ownFile, toItem } from '../../proof/liabilities/liabilities.ts'
import { signersOf } from '../../proof/receipts/check-receipt.ts'
import { checkLiabilities, type LiabilitiesFile } from '../../verify/liabilities.ts'
import { payloadSigners } from '../../verify/page-payload.ts'
import { queryOf } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { reply } from '../../web/ui/reply.ts'
import {
  LiabilitiesPage,
  type LiabilitiesView,
  liabilitiesPath,
  ownProofPath,
} from './portal/liabilities-page.tsx'

/** Statements that the page lists. */
const listed = 10
/** A statement is recent until two more should have been made. */
const missedMost = 2

export const liabilitiesPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'liabilities-portal' })
    .use(sessionAuth(deps))
    .get(
      liabilitiesPath,
      async ({ request, set, account, acting }) => {
        const main = <LiabilitiesPage view={await viewOf(deps, account)} />
        const parts = {
          frame,
          title: 'Liabilities',
          here: liabilitiesPath,
          acting,
          main,
          scripts: ['liabilities'],
        }
        return reply({ request, set }, { page: dashboardPage(parts) })
      },
      { needsSession: { page: 'statement:read' } },
    )
    .get(
      ownProofPath,
      async ({ request, set, account }) => {
        const file = await ownFile(deps, account, readNumber(queryOf(request)))
        const name = `liabilities-${file.statement.number}.json`
        set.headers['content-disposition'] = `attachment; filename="${name}"`
        return file
      },
      { needsSession: { action: 'statement:read' } },
    )

async function viewOf(deps: Deps, account: string): Promise<LiabilitiesView> {
  const { items } = await deps.liabilities.list({ limit: listed, below: undefined })
  const statements = items.map((row) => toItem(deps, row))
  const file = await fileFor(deps, account)
  if (!file) return { account, statements, own: undefined }
  const { issuer } = file.statement
  const signers = signersOf(deps, issuer)
  const { everyMs } = deps.settings.liabilities
  const maxAgeMs = everyMs === 0 ? null : missedMost * everyMs
  const since = maxAgeMs === null ? undefined : deps.clock.now() - maxAgeMs
  const checks = checkLiabilities(file, { signers, issuers: [issuer], account, since })
  const trusted = { signers: payloadSigners(signers), issuers: [issuer], account, maxAgeMs }
  return { account, statements, own: { file, checks, payload: { file, ...trusted } } }
}

/** Undefined while nothing was said, for an account that came later, and after a long pause. */
async function fileFor(deps: Deps, account: string): Promise<LiabilitiesFile | undefined> {
  try {
    return await ownFile(deps, account)
  } catch (error) {
    if (error instanceof Refusal && ['not_found', 'gone'].includes(error.type)) return undefined
    throw error
  }
}
