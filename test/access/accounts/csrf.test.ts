import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../../src/app/routes.ts'
import { operations } from '../../../src/front/reference/areas.ts'
import { wholeApp } from '../../../src/web/http/lazy-mount.ts'
import { isKeyed } from '../../../src/web/reference/operation.ts'
import { promise } from '../../support/promise.ts'
import { usd, type World, world } from '../../support/world.ts'
import { askNonce, browser, cookieHeader, type Jar, signInWith, wallet } from './wallet.ts'

let service: World
let jar: Jar
beforeAll(async () => {
  service = await world()
  const own = browser(service)
  await signInWith(own)
  jar = own.jar
  // An operator too: for other accounts these routes are a 404.
  service.deps.settings.admins = [wallet.address.toLowerCase()]
})
afterAll(() => service.stop())

/** Every route that browsers reach with a cookie and that may change something. */
async function unsafeRoutes(): Promise<[method: string, path: string][]> {
  const { routes } = await wholeApp(createApp(service.deps))
  return routes
    .filter(({ method, path }) => /^\/api\//.test(path) && !/^(GET|HEAD|ALL)$/.test(method))
    .map(({ method, path }) => [method, path.replace(/:\w+/g, `sess_${'0'.repeat(26)}`)])
}

async function readingRoutes(): Promise<[method: string, path: string][]> {
  const { routes } = await wholeApp(createApp(service.deps))
  return routes
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => ['GET', path.replace(/:\w+/g, `run_${'0'.repeat(26)}`)])
}

const sites = [undefined, 'none', 'same-origin', 'same-site', 'cross-site', 'nonsense', ''] as const

/** What a page could send as its origin, by ours. */
const origins: [what: string, of: (own: string) => string | undefined][] = [
  ['no origin', () => undefined],
  ['ours', (own) => own],
  ['another site', () => 'https://evil.example'],
  ['null', () => 'null'],
  ['another port of this host', (own) => `${own}1`],
  ['another scheme', (own) => own.replace('http:', 'https:')],
  ['ours and more', (own) => `${own}.evil.example`],
  ['more and ours', (own) => own.replace('//', '//evil.')],
  ['another name of this host', (own) => own.replace('localhost', '127.0.0.1')],
]

describe('403 csrf_failed, on every unsafe route under /api', () => {
  promise`B17 C: Another origin, also another port of this host, changes nothing with a cookie.`
  test.each(origins)('every Sec-Fetch-Site with the origin: %s', async (what, of) => {
    const routes = await unsafeRoutes()
    expect(routes.length).toBeGreaterThan(3)
    for (const site of sites) {
      for (const [method, path] of routes) {
        const origin = of(service.origin)
        const answer = await service.call(path, {
          method,
          headers: {
            ...cookieHeader(jar),
            ...(site === undefined ? {} : { 'sec-fetch-site': site }),
            ...(origin === undefined ? {} : { origin }),
          },
          redirect: 'manual',
        })
        const isOwn =
          site === undefined
            ? what === 'no origin' || what === 'ours'
            : site === 'same-origin' || site === 'none'
        const body = await answer.text()
        expect([site, path, body.includes('csrf_failed')]).toEqual([site, path, !isOwn])
        if (!isOwn) expect(answer.status).toBe(403)
      }
    }
  })

  test('a refused request changes nothing: the session is still there', async () => {
    const own = browser(service)
    await signInWith(own)
    const headers = { ...cookieHeader(own.jar), 'sec-fetch-site': 'same-site' }
    const answer = await service.call('/api/auth/logout', { method: 'POST', headers })
    expect(answer.status).toBe(403)
    expect((await own.call('/api/portal/sessions')).status).toBe(200)
  })

  promise`B19 H: No page of another origin reads the dashboard, and none sends credentials to /v1.`
  test('no answer under /api lets another origin read it', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const [, path] of await unsafeRoutes()) {
      for (const method of ['OPTIONS', 'GET']) {
        const answer = await service.call(path, { method, headers })
        expect(answer.headers.get('access-control-allow-origin')).toBeNull()
        expect(answer.status).toBeGreaterThanOrEqual(400)
      }
    }
  })

  promise`A15`
  test('every unsafe route under /api/portal refuses who is not signed in', async () => {
    for (const [method, path] of await unsafeRoutes()) {
      if (!path.startsWith('/api/portal/')) continue
      const answer = await service.call(path, { method })
      const { error } = await answer.json()
      expect([path, answer.status, error.type]).toEqual([path, 401, 'session_required'])
    }
  })

  promise`A15 C: A key opens no page, a session no keyed route, and a keyless route ignores keys.`
  test('A key opens no page of the dashboard, and a session opens no route of keys', async () => {
    const { secret } = await service.key({ balance: usd })
    const inside = [...(await unsafeRoutes()), ...(await readingRoutes())].filter(([, path]) =>
      path.startsWith('/api/portal/'),
    )
    expect(inside.length).toBeGreaterThan(30)
    for (const [method, path] of inside) {
      const answer = await service.call(path, { method, key: secret })
      expect([method, path, answer.status]).toEqual([method, path, 401])
    }
    const keyed = operations.filter(isKeyed)
    expect(keyed.length).toBeGreaterThan(20)
    for (const { route } of keyed) {
      const [method = '', path = ''] = route.replace(/:\w+/g, 'x').split(' ')
      const answer = await service.call(path, { method, headers: cookieHeader(jar) })
      expect([route, answer.status]).toEqual([route, 401])
    }
  })
})

/** All that the service keeps, but for when a key or a session was last seen. */
function kept(): unknown {
  const { raw } = service.db as World['db'] & { raw: Database }
  const tables = raw.query("select name from sqlite_master where type = 'table'").values().flat()
  const noted = new Set(['last_used_at', 'seen_at'])
  const hide = (name: string, value: unknown) =>
    noted.has(name) ? null : typeof value === 'bigint' ? String(value) : value
  const rowsOf = (name: unknown) => raw.query(`select * from "${name}"`).all()
  return tables.map((name) => [name, JSON.parse(JSON.stringify(rowsOf(name), hide))])
}

promise`B18 H: GET, HEAD and OPTIONS change nothing, and forms come as forms or JSON.`
test('GET, HEAD and OPTIONS change nothing in any account', async () => {
  const { secret } = await service.key({ balance: usd })
  const who = [cookieHeader(jar), { authorization: `Bearer ${secret}` }]
  const paths = new Set((await readingRoutes()).map(([, path]) => path))
  expect(paths.size).toBeGreaterThan(50)
  const before = kept()
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      for (const headers of who) {
        const answer = await service.call(path, { method, headers, redirect: 'manual' })
        await answer.body?.cancel()
        expect([method, path, answer.status < 500]).toEqual([method, path, true])
      }
    }
  }
  expect(kept()).toEqual(before)
}, 60_000)

describe('cookies', () => {
  const lines = async (baseUrl: string) => {
    const { settings } = service.deps
    const before = settings.baseUrl
    settings.baseUrl = baseUrl
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    const signedIn = await own.call('/api/auth/verify', { json: { message, signature } })
    const out = await own.call('/api/auth/logout', { method: 'POST' })
    settings.baseUrl = before
    return { signedIn: signedIn.headers.getSetCookie(), out: out.headers.getSetCookie() }
  }
  const past = 'Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT'

  promise`B16 H: Cookies have the attributes that the scheme of our address allows, deleted ones
    too.`
  test('on https only this host can set them, and they never leave it in the clear', async () => {
    const { signedIn, out } = await lines('https://gw.example')
    const kept = 'Path=/; HttpOnly; SameSite=Lax; Secure'
    expect(signedIn[0]).toMatch(/^__Host-sid=[\w-]{43}; Max-Age=604800; /)
    expect(signedIn[0]).toEndWith(kept)
    expect(signedIn[1]).toBe(`__Host-signin=; ${past}; ${kept}`)
    expect(out).toEqual([`__Host-sid=; ${past}; ${kept}`, `__Host-signin=; ${past}; ${kept}`])
  })

  promise`B16`
  test('on http they carry no Secure, which would keep some clients from sending them', async () => {
    const { signedIn, out } = await lines(service.origin)
    const kept = 'Path=/; HttpOnly; SameSite=Lax'
    expect(signedIn[0]).toMatch(/^sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(out).toEqual([`sid=; ${past}; ${kept}`, `signin=; ${past}; ${kept}`])
  })
})

describe('who is not signed in', () => {
  test('comes from htmx: 401, and htmx is told to go to the sign-in and back', async () => {
    const headers = {
      'hx-request': 'true',
      'hx-current-url': `${service.origin}/dashboard/keys?a=1`,
    }
    const answer = await service.call('/api/portal/sessions', { headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('hx-redirect')).toBe('/signin?next=%2Fdashboard%2Fkeys%3Fa%3D1')
  })

  test('comes with a browser: 303 to the sign-in', async () => {
    const headers = { accept: 'text/html' }
    const answer = await service.call('/api/portal/sessions/others/revoke', {
      method: 'POST',
      headers,
      redirect: 'manual',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/signin'])
  })

  test('and comes to the sign-in by another name of this machine: 303 to ours', async () => {
    const path = '/signin?next=%2Fdashboard'
    const answer = await fetch(service.origin.replace('localhost', '127.0.0.1') + path, {
      redirect: 'manual',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, service.origin + path])
    expect((await service.call(path)).status).toBe(200)
  })

  test('is limited in how often it may begin and try', async () => {
    const limited = await world({ toml: '[limits]\nfailed_auth_per_minute = 5\n' })
    for (const path of ['/api/auth/nonce', '/api/auth/verify']) {
      const answers = await Promise.all(
        Array.from({ length: 7 }, () => limited.call(path, { json: {} })),
      )
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused.length).toBe(2)
      expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    await limited.stop()
  })
})
