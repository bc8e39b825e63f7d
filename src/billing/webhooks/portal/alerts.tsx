/** `/api/portal/alerts`: sets the threshold of a low balance from the settings page. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../../access/accounts/needs-session.ts'
import { AlertsPanel, type AlertsView } from '../../../access/accounts/portal/alerts-panel.tsx'
import { settingsPath } from '../../../access/accounts/portal/settings-panels.tsx'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { draftOf, type Fields, readFields } from '../../../web/http/fields.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { dashboardPage } from '../../../web/ui/layout.tsx'
import { PageHead } from '../../../web/ui/panel.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { lowBalanceOf, readLow, toAlertsView, toLow } from '../alerts.ts'
import { alertsBody } from '../api/webhook-body.ts'
import { setLowBalance } from '../webhooks.ts'
import { alertsForm } from './webhook-fields.ts'

type Context = ReplyContext & { acting: Actor }

export const alertsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'alerts-portal' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/alerts',
      async ({ account }) => toAlertsView(await lowBalanceOf(deps, account)),
      { needsSession: { action: 'settings:read' } },
    )
    .patch(
      '/api/portal/alerts',
      ({ request, set, acting }) => change(deps, frame, { request, set, acting }),
      { needsSession: { action: 'settings:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/alerts',
      ({ request, set, acting }) => change(deps, frame, { request, set, acting }),
      { needsSession: { action: 'settings:write' }, parse: 'none' },
    )

async function change(deps: Deps, frame: Frame, context: Context) {
  const { request, acting } = context
  const sent = await readFields(request, { limitBytes: deps.settings.bodyBytes })
  try {
    const low = lowOf(sent)
    await setLowBalance(deps, { account: acting.account, actor: acting.wallet }, low)
    if (wantsJson(request)) return toAlertsView(low)
    const done = { what: 'settings_saved' } as const
    return reply(context, {
      fragment: <AlertsPanel view={{ low }} />,
      seeOther: settingsPath,
      done,
    })
  } catch (error) {
    if (!(error instanceof Refusal) || wantsJson(request)) throw error
    const typed = (draftOf(sent.value)['balance_low'] ?? '').slice(0, 100)
    return showWrong(frame, context, { low: null, typed, refusal: error }, error.status)
  }
}

const lowOf = ({ value, isForm }: Fields) =>
  isForm
    ? readLow(checkBody(alertsForm, value).balance_low ?? '')
    : toLow(checkBody(alertsBody, value).balance_low_nusd)

function showWrong(frame: Frame, context: Context, view: AlertsView, status: number) {
  const { acting } = context
  const fragment = <AlertsPanel view={view} />
  const main = (
    <>
      <PageHead title="Settings" />
      {fragment}
    </>
  )
  const page = dashboardPage({ frame, title: 'Settings', here: settingsPath, acting, main })
  return reply(context, { page, fragment, status })
}
