import { signInPages } from './accounts/pages.tsx'
import { sessionsPortal } from './accounts/portal.tsx'
import { settingsPortal } from './accounts/settings-portal.tsx'
import { signInApi } from './accounts/sign-in-api.ts'
import { adminPortal } from './admin/portal.tsx'
import { anchorsApi } from './anchors/api.ts'
import { consolePortal } from './console/portal.tsx'
import { depositsApi } from './deposits/api.ts'
import { depositsPortal } from './deposits/portal.tsx'
import type { Deps } from './deps.ts'
import { docsApi } from './docs/api.ts'
import { docsPages } from './docs/pages.tsx'
import { explorerApi } from './explorer/api.ts'
import { makeExplored } from './explorer/explored.ts'
import { explorerPages } from './explorer/pages.tsx'
import { frameOf } from './frame.ts'
import { assets } from './http/assets.ts'
import { front } from './http/front.ts'
import { methodNotAllowed } from './http/methods.ts'
import { slowBodies } from './http/slow-body.ts'
import { keysApi } from './keys/api.ts'
import { balanceApi } from './keys/balance-api.ts'
import { keysPortal } from './keys/portal/portal.tsx'
import { mcpApi } from './mcp/api.ts'
import { modelsApi } from './models/api.ts'
import { overviewPortal } from './overview/portal.tsx'
import { passportsApi } from './passports/api.ts'
import { passportPages } from './passports/pages.tsx'
import { passportsPortal } from './passports/portal.tsx'
import { plansApi } from './plans/api.ts'
import { planPages } from './plans/pages.tsx'
import { plansPortal } from './plans/portal.tsx'
import { readyReads } from './ready.ts'
import { receiptsApi } from './receipts/api.ts'
import { verifyPages } from './receipts/check/pages.tsx'
import { verifyPageApi } from './receipts/page-api.ts'
import { receiptPages } from './receipts/pages.tsx'
import { receiptsPortal } from './receipts/portal.tsx'
import { runsApi } from './runs/api.ts'
import { runsPortal } from './runs/portal.tsx'
import { signerApi } from './signer/api.ts'
import { modelPages } from './site/models-pages.tsx'
import { sitePages } from './site/pages.tsx'
import { sitemapApi } from './site/sitemap-api.ts'
import { statementPortal } from './statement/portal.tsx'
import { statusApi } from './status/api.ts'
import { terminalApi } from './terminal/api.ts'
import { consoleCommandApi, runOwn } from './terminal/console-api.ts'
import { terminalPages } from './terminal/pages.tsx'
import { makeSlots } from './terminal/slots.ts'
import { refusalPages } from './ui/refusal.tsx'
import { themeRoute } from './ui/theme.ts'
import { usageApi } from './usage/api.ts'
import { usagePortal } from './usage/portal.tsx'

/** The whole service as one Elysia instance. No side effects: tests call it too. */
export function createApp(deps: Deps) {
  const { baseUrl, listen } = deps.settings
  const frame = frameOf(deps)
  const explored = makeExplored(deps)
  const asked = { ...deps, explored }
  const slots = makeSlots()
  const showRefusal = refusalPages(frame)
  const expectBody = slowBodies(deps.settings)
  const { ids, log } = deps
  const ready = readyReads(deps)
  const app = front({ baseUrl, listen, ids, log, ready, expectBody, showRefusal })
    .use(assets())
    .use(docsApi(deps))
    .use(docsPages(deps, frame))
    .use(themeRoute(deps))
    .use(statusApi(deps))
    .use(modelsApi(deps))
    .use(modelPages(deps, frame))
    .use(signerApi(deps))
    .use(keysApi(deps))
    .use(balanceApi(deps))
    .use(depositsApi(deps))
    .use(depositsPortal(deps, frame))
    .use(passportsApi(deps))
    .use(passportsPortal(deps, frame))
    .use(passportPages(deps, frame))
    .use(plansApi(deps))
    .use(planPages(deps, frame))
    .use(plansPortal(deps, frame))
    .use(statementPortal(deps, frame))
    .use(signInApi(deps, frame))
    .use(signInPages(deps, frame))
    .use(sessionsPortal(deps, frame))
    .use(settingsPortal(deps, frame))
    .use(keysPortal(deps, frame))
    .use(adminPortal(deps, frame))
    .use(sitePages({ ...deps, explored }, frame))
    .use(sitemapApi(deps, frame))
    .use(overviewPortal(deps, frame))
    .use(runsApi(deps))
    .use(runsPortal(deps, frame))
    .use(consolePortal(deps, frame, (line, account) => runOwn(asked, line, account)))
    .use(consoleCommandApi(asked))
    .use(receiptsApi(deps))
    .use(receiptPages(deps, frame))
    .use(receiptsPortal(deps, frame))
    .use(anchorsApi(deps))
    .use(explorerApi({ ...deps, explored }))
    .use(explorerPages({ ...deps, explored }, frame))
    .use(verifyPageApi())
    .use(verifyPages(deps, frame))
    .use(terminalApi(asked, slots))
    .use(terminalPages(asked, frame, slots))
    .use(usageApi(deps))
    .use(usagePortal(deps, frame))
  app.use(mcpApi(deps, (request) => app.handle(request)))
  methodNotAllowed(app)
  return app
}
