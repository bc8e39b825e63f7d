import { scopes } from '../../src/access/keys/key.ts'
import { createApp } from '../../src/app/routes.ts'
import { operations } from '../../src/front/reference/areas.ts'
import type { Json } from '../../src/kernel/canonical.ts'
import { createPassport } from '../../src/proof/passports/create.ts'
import { wholeApp } from '../../src/web/http/lazy-mount.ts'
import { browser, cookieHeader, signInWith } from '../access/accounts/wallet.ts'
import { bodyOf, type Fixtures, makeFixtures, urlOf } from '../docs/fixtures.ts'
import type { Prng } from '../ledger/prng.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { type Engine, testAccount, usd, type World, world } from '../support/world.ts'
import { doorBodies } from './door-bodies.ts'

/** A service with someone who may do everything in it, and what requests to it are made of. */
export type Service = {
  w: World
  routes: readonly Route[]
  /** A key of every scope, with money. */
  secret: string
  /** The session of its operator, who has an account with keys, runs and receipts as well. */
  cookie: () => Promise<string>
  sessionToken: () => string
  /** Ids that are there, and words that could be. */
  ids: readonly string[]
  /** Queries and bodies of the reference and of the portal's forms. */
  queries: readonly string[]
  bodies: readonly Json[]
  bodiesOf(route: Route): readonly Json[]
  stop(): Promise<void>
}

export type Route = { method: string; path: string }

const toml = `admins = ["${testAccount}"]
${pricedBuiltins.replace('input_pusd = 150_000', 'terminal = true\ninput_pusd = 150_000')}
[limits]
keyless_per_minute = 1_000_000
failed_auth_per_minute = 1_000_000
[terminal]
asks_per_day = 1_000_000
daily_budget_nusd = 1_000_000_000_000
[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 1_000_000, max_keys = 500, history_days = 3650 }
[[plans]]
id = "builder"
`

const ofDoors = doorBodies('counterfoil/echo-1')

/** Bodies of the portal and of its forms, by the routes that they are for. */
const portalBodies: readonly [path: RegExp, body: Json][] = [
  [/auth.nonce/, { address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', next: '/dashboard' }],
  [/auth.verify/, { message: 'x wants you to sign in\n0x\n', signature: '0x00' }],
  [/portal.keys/, { name: 'made', cap: '1.00', window: 'month', expires: '30', once: 'a' }],
  [/portal.keys.:id$/, { name: 'other', cap: '2.00', rpm: '60', tags: 'team=a' }],
  [/passports$/, { handle: 'made-up', display_name: 'Made Up', kind: 'agent', bio: 'x' }],
  [/passports.:handle$/, { display_name: 'Other', links: 'https://a.example/b' }],
  [/bind$/, { key_id: 'key_01k1j8dq00v5x3c7n9m2p4r6t8' }],
  [/settings/, { retention: '7' }],
  [/share$/, { visibility: 'unlisted', sections: ['run'], reveal: [] }],
  [/console.run/, { model: 'counterfoil/echo-1', input: 'hi', max_output_tokens: 9, turns: [] }],
  [/console.run/, { model: 'counterfoil/echo-1', input: 'hi', turns: '[]', system: '' }],
  [/console.cap/, { cap: '5.00' }],
  [/console.command|^.terminal/, { command: 'price counterfoil/echo-1' }],
  [/grant$/, { amount: '5.00', reason: 'fuzz', once: 'x' }],
  [/suspend|resume$|assign/, { reason: 'fuzz' }],
  [/deposits$/, { amount: '25.00' }],
  [/claim/, { tx_hash: `0x${'ab'.repeat(32)}`, signature: `0x${'5c'.repeat(65)}` }],
  [/theme/, { theme: 'dark', back: '/docs' }],
  [/^.verify/, { text: '{"type":"counterfoil.receipt","receipt":{}}', signers: '' }],
  [/mcp/, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
  [/mcp/, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: callOf('list_models') }],
  [/revoke|rotate|pause|publish|hide|retire|statement|cancel|preview|subscribe|now|audit/, {}],
]

function callOf(name: string): Json {
  return { name, arguments: {} }
}

const portalQueries = [
  ...['limit=5', 'after=key_01k1j8dq00v5x3c7n9m2p4r6t8', 'status=succeeded&model=x&tag=a:b'],
  ...['q=scout', 'days=30&page=1', 'from=2026-01-01&to=2026-12-31', 'amount=25.00', 'next=%2Fdocs'],
  ...[
    'kind=run&account=0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    'after=1790000000000-5',
    'grain=hour',
  ],
]

/** Starts a service and fills it with one of everything. */
export async function startService(engine: Engine = 'sqlite'): Promise<Service> {
  const w = await world({ engine, toml })
  const fixtures = await makeFixtures(w)
  await w.deps.ledger.post({ account: testAccount, opens: true, keys: [], decide: () => {} })
  const own = await w.key({ balance: 100n * usd, scopes: [...scopes] })
  await w.key({ account: await accountOf(w, fixtures.secret), balance: 100n * usd })
  const json = { model: 'counterfoil/echo-1', input: 'for the portal', max_output_tokens: 10 }
  const ran = await (await w.call('/v1/runs', { key: own.secret, json })).json()
  const mine = { handle: 'fuzzy-bird', displayName: 'Bird', kind: 'agent' } as const
  await createPassport(w.deps, { account: testAccount, ...mine })
  let person = browser(w)
  await signInWith(person)
  // What is loaded when it is first asked for is not what a request takes.
  const accept = 'application/json, text/event-stream'
  await w.call('/mcp', { headers: { accept }, json: { jsonrpc: '2.0', id: 1, method: 'ping' } })
  const examples = exampleBodies(fixtures)
  return {
    w,
    routes: await routesOf(w),
    secret: fixtures.secret,
    // A request may have ended the session.
    async cookie() {
      const { account } = await (await person.call('/api/auth/session')).json()
      if (account === null || account === undefined) {
        person = browser(w)
        await signInWith(person)
      }
      return cookieHeader(person.jar)['cookie'] ?? ''
    },
    sessionToken: () => person.jar.get('sid') ?? '',
    ids: [
      ...[...Object.values(fixtures.ids), own.key.id, String(ran.id), String(ran.receipt_id)],
      ...['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', 'free', 'builder', 'keys', 'pages.xml'],
      mine.handle,
    ],
    queries: [...portalQueries, ...exampleQueries(fixtures)],
    bodies: [...portalBodies.map(([, body]) => body), ...[...examples.values()].flat()],
    bodiesOf: ({ method, path }) => [
      ...(path.startsWith('/v1/messages') ? ofDoors.messages : []),
      ...(path === '/v1/responses' ? ofDoors.responses : []),
      ...(examples.get(`${method} ${path}`) ?? []),
      ...portalBodies
        .filter(([of]) => !path.startsWith('/v1') && of.test(path))
        .map(([, body]) => body),
    ],
    stop: () => w.stop(),
  }
}

/** Every route the service has, in its own words. */
async function routesOf(w: World): Promise<Route[]> {
  const { routes } = await wholeApp(createApp(w.deps))
  // What is configured here stands in no file that could be read again.
  const reload = '/api/portal/admin/reload'
  const named = routes.filter(({ method, path }) => method !== 'ALL' && path !== reload)
  return named.map(({ method, path }) => ({ method, path }))
}

async function accountOf(w: World, secret: string): Promise<string> {
  const self = await (await w.call('/v1/keys/self', { key: secret })).json()
  return String(self.account ?? testAccount).toLowerCase()
}

function exampleBodies(fixtures: Fixtures): Map<string, Json[]> {
  const found = new Map<string, Json[]>()
  for (const { route, examples } of operations) {
    const texts = examples.flatMap((example) => bodyOf(example, fixtures) ?? [])
    if (texts.length > 0)
      found.set(
        route,
        texts.map((text) => JSON.parse(text)),
      )
  }
  return found
}

const exampleQueries = (fixtures: Fixtures): string[] =>
  operations.flatMap(({ route, examples }) =>
    examples.flatMap((example) => {
      const url = urlOf(route.slice(route.indexOf(' ') + 1), example, fixtures)
      return url.includes('?') ? [url.slice(url.indexOf('?') + 1)] : []
    }),
  )

/** One of a few, or nothing. */
export const maybe = <T>(prng: Prng, items: readonly T[]): T | undefined =>
  prng.below(3) === 0 ? undefined : prng.pick(items)
