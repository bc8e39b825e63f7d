/** The settings of an account: the page and `/api/portal/settings`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { type Actor, zoneOf } from '../../../kernel/acting.ts'
import { maxPageLimit } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { takeFreeWrites } from '../../../ledger/stored-beside.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { isKeeping } from '../../../storage/responses/keeping.ts'
import { setRetention } from '../../../storage/texts/retain.ts'
import {
  isShorter,
  type Retention,
  retentionMs,
  retentions,
} from '../../../storage/texts/retention.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { readFields } from '../../../web/http/fields.ts'
import { queryOf, readChoice } from '../../../web/http/query.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply, sendOn } from '../../../web/ui/reply.ts'
import { themeOf } from '../../../web/ui/theme.ts'
import { sessionAuth, wantsJson } from '../needs-session.ts'
import { settingsBody } from '../shapes.ts'
import {
  ConfirmRetention,
  countedMax,
  RetentionPanel,
  retentionPath,
  SettingsPage,
  settingsPath,
} from './settings-panels.tsx'
import { zonePortal } from './zone.tsx'

/** Bytes of a request body that changes a setting. */
const bodyBytes = 4096

export const settingsPortal = (deps: Deps, frame: Frame) => {
  const change = async ({
    request,
    set,
    account,
    acting,
  }: ReplyContext & { account: string; acting: Actor }) => {
    const retention = await readRetention(request)
    // To keep nothing takes something away, so it is never refused.
    if (retention !== 'none') await takeFreeWrites(deps.ledger, account, { retention })
    await setRetention(deps, { account, retention, actor: acting.wallet })
    const keepsResponses = await isKeeping(deps, account)
    if (wantsJson(request)) return toSettingsView(account, retention, keepsResponses)
    const keptCount = await keptBeyond(deps, account, 0)
    const fragment = <RetentionPanel view={{ retention, keepsResponses, keptCount }} />
    const done = { what: 'settings_saved' } as const
    return reply({ request, set }, { fragment, seeOther: settingsPath, done })
  }
  const page = (acting: Actor, main: Markup) =>
    dashboardPage({ frame, title: 'Settings', here: settingsPath, acting, main })

  return new Elysia({ name: 'settings-portal' })
    .use(sessionAuth(deps))
    .use(zonePortal(deps, settingsPath))
    .get(
      settingsPath,
      async ({ request, set, account, acting, session }) => {
        const view = {
          acting,
          account: await findAccount(deps, account),
          retention: await deps.texts.retentionOf(account),
          keepsResponses: await isKeeping(deps, account),
          keptCount: await keptBeyond(deps, account, 0),
          theme: themeOf(request),
          zone: zoneOf(acting),
          sessions: await sessionsText(deps, session.accountId),
        }
        return reply({ request, set }, { page: page(acting, <SettingsPage view={view} />) })
      },
      { needsSession: { page: 'self' } },
    )
    .get(
      retentionPath,
      async ({ request, set, account, acting }) => {
        const to = readChoice(queryOf(request), 'to', retentions)
        if (!to || !isShorter(to, await deps.texts.retentionOf(account)))
          return sendOn({ set }, settingsPath)
        const affectedCount = await keptBeyond(deps, account, retentionMs[to])
        const main = <ConfirmRetention to={to} affectedCount={affectedCount} />
        return reply({ request, set }, { page: page(acting, main) })
      },
      { needsSession: { page: 'settings:write' } },
    )
    .get(
      '/api/portal/settings',
      async ({ account }) =>
        toSettingsView(
          account,
          await deps.texts.retentionOf(account),
          await isKeeping(deps, account),
        ),
      { needsSession: { action: 'settings:read' } },
    )
    .patch(
      '/api/portal/settings',
      ({ request, set, account, acting }) => change({ request, set, account, acting }),
      { needsSession: { action: 'settings:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/settings',
      ({ request, set, account, acting }) => change({ request, set, account, acting }),
      { needsSession: { action: 'settings:write' }, parse: 'none' },
    )
}

/** @throws Refusal 'invalid_request' */
async function readRetention(request: Request): Promise<Retention> {
  const { value } = await readFields(request, { limitBytes: bodyBytes })
  const { retention } = checkBody(settingsBody, value)
  const message = `"retention" must be one of: ${retentions.join(', ')}.`
  return (
    retentions.find((one) => one === retention) ??
    refuse('invalid_request', { param: 'retention', message })
  )
}

/** Runs whose texts are kept longer than `ms` from now, up to {@link countedMax}. */
const keptBeyond = ({ texts, clock }: Deps, account: string, ms: number): Promise<number> =>
  texts.countBeyond(account, clock.now() + ms, countedMax)

async function findAccount({ accounts }: Deps, id: string): Promise<AccountRow> {
  const found = await accounts.find(id)
  if (!found) throw new Error('a session without an account')
  return found
}

async function sessionsText({ sessions, clock }: Deps, account: string): Promise<string> {
  const { items, hasMore } = await sessions.list(
    account,
    { limit: maxPageLimit, after: undefined },
    clock.now(),
  )
  if (items.length === 1) return 'In this browser only'
  return `In ${items.length}${hasMore ? ' or more' : ''} browsers`
}

const toSettingsView = (account: string, retention: Retention, keepsResponses: boolean) => ({
  object: 'settings' as const,
  account: toChecksumAddress(account),
  retention,
  keeps_responses: keepsResponses,
})
