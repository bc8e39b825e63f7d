/** Mounts every page and what browsers alone ask for; loaded at the first such request. */
import type { AnyElysia } from 'elysia'
import { allowsBy, type GuardedRoute } from '../access/accounts/allows.ts'
import { signInApi } from '../access/accounts/api/sign-in.ts'
import { rightOf } from '../access/accounts/needs-session.ts'
import { signInPages } from '../access/accounts/pages.tsx'
import { settingsPortal } from '../access/accounts/portal/settings.tsx'
import { sessionsPortal } from '../access/accounts/portal.tsx'
import { leaksApi } from '../access/keys/api/leaks.ts'
import { keysPortal } from '../access/keys/portal.tsx'
import { membersPortal } from '../access/members/portal.tsx'
import { depositsPortal } from '../billing/deposits/portal.tsx'
import { liabilitiesPortal } from '../billing/liabilities/portal.tsx'
import { planPages } from '../billing/plans/pages.tsx'
import { plansPortal } from '../billing/plans/portal.tsx'
import { statementPortal } from '../billing/statement/portal.tsx'
import { usagePortal } from '../billing/usage/portal.tsx'
import { vouchersPortal } from '../billing/vouchers/portal.tsx'
import { alertsPortal } from '../billing/webhooks/portal/alerts.tsx'
import { webhooksPortal } from '../billing/webhooks/portal.tsx'
import { setupPages } from '../front/admin/portal/setup.tsx'
import { adminPortal } from '../front/admin/portal.tsx'
import { consolePortal } from '../front/console/portal.tsx'
import { explorerPages } from '../front/explorer/pages.tsx'
import type { PublicDeps } from '../front/explorer/public-cache.ts'
import { operatorApi } from '../front/operator/api.ts'
import { missingPages } from '../front/overview/portal/missing.ts'
import { overviewPortal } from '../front/overview/portal.tsx'
import { docsApi } from '../front/reference/api.ts'
import { docsPages } from '../front/reference/pages.tsx'
import { landingPictureApi } from '../front/site/api/landing-picture.ts'
import { sitemapApi } from '../front/site/api/sitemap.ts'
import { modelPages } from '../front/site/pages/models.tsx'
import { sitePages } from '../front/site/pages.tsx'
import { statusPages } from '../front/status/pages.tsx'
import { consoleCommandApi, runOwn } from '../front/terminal/api/console.ts'
import { terminalPages } from '../front/terminal/pages.tsx'
import type { Slots } from '../front/terminal/slots.ts'
import { passportPictureApi } from '../proof/passports/api/passport-picture.ts'
import { passportPages } from '../proof/passports/pages.tsx'
import { passportsPortal } from '../proof/passports/portal.tsx'
import { receiptPictureApi } from '../proof/receipts/api/receipt-picture.ts'
import { verifyPageApi } from '../proof/receipts/api/verify-page.ts'
import { verifyPages } from '../proof/receipts/pages/check.tsx'
import { receiptPages } from '../proof/receipts/pages.tsx'
import { receiptsPortal } from '../proof/receipts/portal.tsx'
import { runsPortal } from '../runs/portal.tsx'
import { assets } from '../web/http/assets.ts'
import type { ShowRefusal } from '../web/http/error-answers.ts'
import { makePictures } from '../web/pictures/pictures.ts'
import { htmlAnswers } from '../web/ui/html-answer.ts'
import { countsOf } from '../web/ui/rail.tsx'
import { refusalPages } from '../web/ui/refusal.tsx'
import { themeRoute } from '../web/ui/theme.ts'
import { frameOf } from './frame.ts'

/** @throws Error naming a route of the dashboard that says of no role whether it may call it. */
function guardedOf({ routes }: AnyElysia): GuardedRoute[] {
  const mine = routes.filter(({ method, path }) => method !== 'ALL' && isOfMembers.test(path))
  return mine.map((route) => {
    const { method, path } = route
    const right = rightOf(route)
    if (right === undefined) throw new Error(`${method} ${path} names no right: see needsSession`)
    return { method, path, right }
  })
}

/** The routes that members call, without those of the operator and the page for unknown paths. */
const isOfMembers = /^\/(api\/portal|dashboard)(?![\w-])(?!\/admin(?![\w-])|\/\*)/

/** Mounts the pages, and returns what shows refusals to people. */
export function mountPages(app: AnyElysia, deps: PublicDeps, slots: Slots): ShowRefusal {
  const frame = frameOf(deps)
  const pictures = makePictures()
  app
    .use(
      htmlAnswers(async (acting) => {
        await deps.extent.note(acting, deps.clock.now())
        return countsOf(frame, acting)
      }),
    )
    .use(assets())
    .use(docsApi(deps))
    .use(docsPages(deps, frame))
    .use(themeRoute(deps))
    .use(modelPages(deps, frame))
    .use(statusPages(deps, frame))
    .use(depositsPortal(deps, frame))
    .use(passportsPortal(deps, frame))
    .use(passportPages(deps, frame))
    .use(planPages(deps, frame))
    .use(plansPortal(deps, frame))
    .use(statementPortal(deps, frame))
    .use(liabilitiesPortal(deps, frame))
    .use(vouchersPortal(deps, frame))
    .use(signInApi(deps, frame))
    .use(signInPages(deps, frame))
    .use(sessionsPortal(deps, frame))
    .use(settingsPortal(deps, frame))
    .use(membersPortal(deps, frame))
    .use(keysPortal(deps, frame))
    .use(adminPortal(deps, frame))
    .use(setupPages(deps, frame))
    .use(operatorApi(deps))
    .use(leaksApi(deps))
    .use(sitePages(deps, frame))
    .use(sitemapApi(deps, frame))
    .use(overviewPortal(deps, frame))
    .use(missingPages(deps))
    .use(runsPortal(deps, frame))
    .use(consolePortal(deps, frame, (line, acting) => runOwn(deps, line, acting)))
    .use(consoleCommandApi(deps))
    .use(receiptPages(deps, frame))
    .use(receiptsPortal(deps, frame))
    .use(explorerPages(deps, frame))
    .use(verifyPageApi())
    .use(landingPictureApi(deps, pictures))
    .use(receiptPictureApi(deps, pictures))
    .use(passportPictureApi(deps, pictures))
    .use(verifyPages(deps, frame))
    .use(terminalPages(deps, frame, slots))
    .use(usagePortal(deps, frame))
    .use(webhooksPortal(deps, frame))
    .use(alertsPortal(deps, frame))
  frame.allows = allowsBy(guardedOf(app))
  return refusalPages(frame)
}
