/** Mounts every route that programs ask for, and the pages behind them. */
import { balanceApi } from '../access/keys/api/balance.ts'
import { keysApi } from '../access/keys/api.ts'
import { depositsApi } from '../billing/deposits/api.ts'
import { plansApi } from '../billing/plans/api.ts'
import { quotesApi } from '../billing/quotes/api.ts'
import { usageApi } from '../billing/usage/api.ts'
import { vouchersApi } from '../billing/vouchers/api.ts'
import { webhooksApi } from '../billing/webhooks/api.ts'
import { explorerApi } from '../front/explorer/api.ts'
import { makePublicCache } from '../front/explorer/public-cache.ts'
import { mcpApi } from '../front/mcp/api.ts'
import { statusApi } from '../front/status/api.ts'
import { terminalApi } from '../front/terminal/api.ts'
import { makeSlots } from '../front/terminal/slots.ts'
import { modelsApi } from '../models/api.ts'
import { messagesErrors } from '../models/protocols/messages/write-error.ts'
import { anchorsApi } from '../proof/anchors/api.ts'
import { liabilitiesApi } from '../proof/liabilities/api.ts'
import { logApi } from '../proof/log/api.ts'
import { passportsApi } from '../proof/passports/api.ts'
import { receiptsApi } from '../proof/receipts/api.ts'
import { signerApi } from '../proof/signer/api.ts'
import { runsApi } from '../runs/api.ts'
import { clientAddress, trustedProxies } from '../web/http/client-address.ts'
import type { ShowRefusal } from '../web/http/error-answers.ts'
import { expectBodies } from '../web/http/expected-body.ts'
import { mountLater } from '../web/http/lazy-mount.ts'
import { methodNotAllowed } from '../web/http/methods.ts'
import { makeRoot, type RootDeps } from '../web/http/root.ts'
import type { Deps } from './deps-port.ts'
import { methodHelp, notFoundHelp } from './not-found-help.ts'

/** Anthropic's clients read errors in a shape of their own. */
const errorFormFor = ({ url, headers }: Request) =>
  /^[^/]*\/\/[^/]*\/v1\/messages(?![\w-])/.test(url) || headers.has('anthropic-version')
    ? messagesErrors
    : undefined

/**
 * The whole service as one Elysia instance. Routes for programs are mounted at once, pages at the
 * first request for one. It has no side effects, so tests call it too.
 */
export function createApp(deps: Deps) {
  const { baseUrl, listen } = deps.settings
  const asked = { ...deps, publicCache: makePublicCache(deps) }
  const slots = makeSlots()
  const expectBody = expectBodies(deps)
  const { ids, log, shard } = deps
  const note = deps.meters.refused
  let pages: ShowRefusal | undefined
  const showRefusal = (...asked: Parameters<ShowRefusal>) => pages?.(...asked)
  const words = {
    missingWords: notFoundHelp,
    swallowedWords: methodHelp,
    explain: deps.demo?.explain,
  }
  const said = { showRefusal, errorFormFor, shard, ...words }
  const admit = admitterOf(deps)
  const app = makeRoot({ baseUrl, listen, ids, log, note, expectBody, admit, ...said })
    .use(statusApi(deps))
    .use(modelsApi(deps))
    .use(signerApi(deps))
    .use(keysApi(deps))
    .use(balanceApi(deps))
    .use(depositsApi(deps))
    .use(passportsApi(deps))
    .use(plansApi(deps))
    .use(quotesApi(deps))
    .use(runsApi(deps))
    .use(receiptsApi(deps))
    .use(anchorsApi(deps))
    .use(logApi(deps))
    .use(liabilitiesApi(deps))
    .use(explorerApi(asked))
    .use(terminalApi(asked, slots))
    .use(usageApi(deps))
    .use(vouchersApi(deps))
    .use(webhooksApi(deps))
  app.use(mcpApi(deps, (request) => app.handle(request)))
  methodNotAllowed(app)
  const known = app.routes.length
  mountLater(app, async () => {
    const { mountPages } = await import('./page-routes.ts')
    return () => {
      pages = mountPages(app, asked, slots)
      methodNotAllowed(app, known)
    }
  })
  return app
}

/** Only a demonstration looks at each request. */
function admitterOf({ demo, settings }: Deps): RootDeps['admit'] {
  if (!demo) return undefined
  const isTrusted = trustedProxies(settings.trustedProxies)
  return (request, server) => demo.admit(request, clientAddress(request, server, isTrusted))
}
