/** Every page of a showcase: an address for each route that answers one. */
import { createApp } from '../../src/app/routes.ts'
import { wholeApp } from '../../src/web/http/lazy-mount.ts'
import { callAt } from './people.ts'
import { onCallUrl } from './receivers.ts'
import type { Showcase } from './start.ts'

export type ShownPage = {
  name: string
  /** The route as the service names it. */
  route: string
  path: string
  /** Whether the operator is signed in; a visitor otherwise. */
  isSignedIn: boolean
}

/** Routes of pages about one thing. Those that name none are found by themselves. */
const routesOfOne = [
  '/passports/:handle',
  '/receipts/:id',
  '/docs/:area',
  '/docs/guides/:id',
  '/dashboard/runs/:id',
  '/dashboard/receipts/:id',
  '/dashboard/receipts/:id/erase',
  '/dashboard/keys/:id',
  '/dashboard/keys/:id/revoke',
  '/dashboard/keys/:id/pause',
  '/dashboard/keys/:id/rotate',
  '/dashboard/webhooks/:id',
  '/dashboard/webhooks/:id/deliveries/:delivery',
  '/dashboard/webhooks/:id/rotate',
  '/dashboard/webhooks/:id/remove',
  '/dashboard/members/:address/name',
  '/dashboard/members/:address/remove',
  '/dashboard/passports/:handle',
  '/dashboard/passports/:handle/retire',
  '/dashboard/admin/accounts/:id',
  '/dashboard/admin/accounts/:id/suspend',
  '/dashboard/admin/accounts/:id/resume',
  '/dashboard/admin/accounts/:id/grant',
  '/dashboard/admin/deposits/:id',
  '/dashboard/admin/models/add/:provider',
  '/dashboard/*',
]

/** GET routes without a picture: no page, another address of a page, or shown once. */
const isNoPage = new RegExp(
  [
    '^/(v1|api|operator|log|livez|readyz|assets|openapi|llms|robots|sitemap|docs\\.md|r/)',
    '^/liabilities',
    '\\.(html|csv|svg|png|ico|webmanifest)$',
    '/(file|proof|stream)$',
    '/:handle/statement$',
    '/(keys|webhooks)/:id/secret$',
  ].join('|'),
)

/** The routes of a service that answer a page. */
export async function pageRoutes({ deps }: Pick<Showcase, 'deps'>): Promise<string[]> {
  const app = await wholeApp(createApp(deps))
  const pages = app.routes.filter(({ method, path }) => method === 'GET' && !isNoPage.test(path))
  return [...new Set(pages.map(({ path }) => path))]
}

/** Queries that give some routes something to show. */
const queries: Record<string, string> = {
  '/dashboard/admin/models/model': '?id=acme/large',
  '/dashboard/admin/models/upstream': '?id=builtin',
  '/dashboard/settings/retention': '?to=24h',
  '/dashboard/keys/:id/rotate': '?overlap_seconds=0',
  '/dashboard/admin/accounts/:id/grant': '?amount=5.00&reason=A+gift&once=0',
  '/docs/search': '?q=receipt',
}

/** More looks of some routes. */
const more: [name: string, route: string, query: string][] = [
  ['runs-failed', '/dashboard/runs', '?status=failed'],
  ['runs-none', '/dashboard/runs', '?model=none'],
  ['usage-tag', '/dashboard/usage', '?group_by=tag&days=30'],
  ['usage-requests', '/dashboard/usage', '?metric=requests&group_by=key'],
  ['usage-tokens', '/dashboard/usage', '?metric=tokens'],
  ['usage-first-token', '/dashboard/usage', '?metric=first_token'],
  ['usage-week', '/dashboard/usage', '?days=7&group_by=key'],
  ['statement-movements', '/dashboard/statement', '?by=movement'],
  ['deposits-amount', '/dashboard/deposits', '?amount=25'],
  ['plan-change', '/dashboard/plan', '?to=scale'],
  ['explorer-week', '/explorer', '?window=7d'],
  ['explorer-none', '/explorer', '?q=nowhere'],
  ['docs-search-none', '/docs/search', '?q=zebra'],
  ['nowhere', '/nowhere', ''],
  ['setup-steps', '/setup', ''],
]

type Listed = { data: { id: string; url?: string }[] }

/** Addresses in a showcase, by the ids that it has. @throws Error when something is missing. */
export async function pagesOf(showcase: Showcase): Promise<ShownPage[]> {
  const [operator] = showcase.people
  /** The newest, or the one of that URL. */
  const list = async (path: string, url?: string) => {
    const { data } = (await operator.portal(path)) as unknown as Listed
    const found = data.find((one) => url === undefined || one.url === url)
    if (!found) throw new Error(`there is nothing at ${path}`)
    return found.id
  }
  const shown = await (
    await callAt(showcase.origin, '/v1/terminal/run', {
      json: { command: 'recent' },
    })
  ).text()
  const shared = /rcpt_\w{26}/.exec(shown)?.[0]
  if (!shared) throw new Error('no receipt is public')
  const [run, receipt, deposit, webhook] = await Promise.all([
    list('/runs?status=succeeded'),
    list('/receipts'),
    list('/deposits'),
    list('/webhooks', onCallUrl),
  ])
  const delivery = await list(`/webhooks/${webhook}/deliveries`)
  const key = operator.keys.find(({ name }) => name === 'production')?.id ?? ''
  const account = showcase.people[1].wallet.address.toLowerCase()
  const ids: [start: string, id: string][] = [
    ['/dashboard/runs/', run],
    ['/dashboard/receipts/', receipt],
    ['/receipts/', shared],
    ['/dashboard/keys/', key],
    ['/docs/guides/', 'first-run'],
    ['/dashboard/webhooks/', webhook],
    ['/dashboard/admin/deposits/', deposit],
    ['/dashboard/admin/accounts/', account],
  ]
  const toPage = (route: string, query = queries[route] ?? '', name = nameOf(route)): ShownPage => {
    const id = ids.find(([start]) => route.startsWith(start))?.[1] ?? ''
    const path = route
      .replace(':handle', 'harbor-support')
      .replace(':area', 'runs')
      .replace(':provider', 'groq')
      .replace(':id', id)
      .replace(':delivery', delivery)
      .replace(':address', account)
      .replace('*', 'nowhere')
    return {
      name,
      route,
      path: path + query,
      isSignedIn: route.startsWith('/dashboard') || name === 'setup-steps',
    }
  }
  const found = (await pageRoutes(showcase)).filter((route) => !/[:*]/.test(route))
  return [
    ...[...found, ...routesOfOne].map((route) => toPage(route)),
    ...more.map(([name, route, query]) => toPage(route, query, name)),
  ]
}

const nameOf = (route: string): string =>
  route.replace('*', 'nowhere').replaceAll(/[/:]+/g, '-').replace(/^-|-$/g, '') || 'landing'
