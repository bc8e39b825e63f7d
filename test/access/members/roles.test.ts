import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rightOf } from '../../../src/access/accounts/needs-session.ts'
import { createApp } from '../../../src/app/routes.ts'
import { homes, may, type Right, type Role, rights, roles } from '../../../src/kernel/acting.ts'
import { wholeApp } from '../../../src/web/http/lazy-mount.ts'
import { errorType } from '../../docs/answers.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'
import { jsonOf, member, type Person, person } from './people.ts'

setDefaultTimeout(120_000)

/** What each role may do, written once more by hand: a change of the table is a change of this. */
const expected: Record<Role, Right[]> = {
  owner: Object.keys(rights) as Right[],
  developer: [
    ...(['self', 'keys:read', 'keys:write', 'runs:read', 'runs:write'] as const),
    ...(['receipts:read', 'receipts:share', 'usage:read'] as const),
  ],
  billing: [
    ...(['self', 'usage:read', 'statement:read', 'deposits:read', 'deposits:write'] as const),
    ...(['plans:read', 'plans:write'] as const),
  ],
  viewer: [
    ...(['self', 'overview:read', 'keys:read', 'runs:read', 'receipts:read'] as const),
    ...(['usage:read', 'statement:read', 'deposits:read', 'plans:read', 'passports:read'] as const),
    ...(['settings:read', 'members:read'] as const),
  ],
}

type Route = { method: string; path: string; right: Right }

let w: World
let owner: Person
/** Things of the account that stand outside of any branch, by the prefix of their ids. */
let ids: Record<string, string>
let routes: Route[]
beforeAll(async () => {
  w = await world({ toml: `${pricedBuiltins}\n[limits]\nfailed_auth_per_minute = 1_000_000` })
  owner = await person(w)
  const own = await w.key({ account: owner.wallet, balance: 100n * usd, name: secretName })
  const json = { model: 'counterfoil/echo-1', input: 'hi', max_output_tokens: 4 }
  const run = await jsonOf(w.call('/v1/runs', { key: own.secret, json }))
  ids = { key: own.key.id, run: run.id, rcpt: run.receipt_id }
  routes = await guarded()
})
afterAll(() => w.stop())

const secretName = 'a key of another branch'

/** Every route that a session guards, with the right that it names itself. */
async function guarded(): Promise<Route[]> {
  const app = await wholeApp(createApp(w.deps))
  return app.routes.flatMap((route) => {
    const right = rightOf(route)
    return right === undefined ? [] : [{ method: route.method, path: route.path, right }]
  })
}

function addressOf({ path }: Route): string {
  const kind = /keys/.test(path) ? 'key' : /receipts/.test(path) ? 'rcpt' : 'run'
  return path
    .replace('/plans/:id', '/plans/free')
    .replace(':handle', 'not-here')
    .replace(':address', `0x${'12'.repeat(20)}`)
    .replace(/invitations\/:id/, `invitations/inv_${'0'.repeat(26)}`)
    .replace(/sessions\/:id/, `sessions/sess_${'0'.repeat(26)}`)
    .replace(':id', ids[kind] ?? '')
}

/** Bodies that mean nothing: what is allowed refuses them, and nothing changes. */
function send(one: Person, route: Route): Promise<Response> {
  const { method } = route
  const isPage = route.path.startsWith('/dashboard')
  return one.own.call(addressOf(route), {
    method,
    headers: {
      ...(isPage ? { accept: 'text/html' } : {}),
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
    },
    ...(method === 'GET' ? {} : { body: '{"no":"member"}' }),
  })
}

describe('the table of roles and routes', () => {
  promise`P1 C: Every dashboard route names a right, and a role without it gets 403.`
  test('Every role has the rights that are written here.', () => {
    for (const role of roles) {
      const has = (Object.keys(rights) as Right[]).filter((right) => may({ role }, right))
      expect([role, ...has.sort()]).toEqual([role, ...expected[role].sort()])
    }
  })

  test('The page for a new key is named to those alone who may make one.', async () => {
    const names = async (by: Person) => {
      const read = async (path: string) => {
        const answer = await by.own.call(path, { headers: { accept: 'text/html' } })
        return (await answer.text()).includes('/dashboard/keys/new')
      }
      return [await read('/dashboard/settings'), await read('/dashboard/find')]
    }
    expect(await names(owner)).toEqual([true, true])
    expect(await names(await member(w, owner, 'viewer'))).toEqual([false, false])
  })

  promise`P1`
  test('Every route of the dashboard names a right, also those of webhooks.', async () => {
    const app = await wholeApp(createApp(w.deps))
    const silent = app.routes.filter(
      (route) =>
        route.method !== 'ALL' &&
        /^\/(api\/portal|dashboard)(?![\w-])/.test(route.path) &&
        !/^\/(api\/portal|dashboard)\/(admin|\*)/.test(route.path) &&
        rightOf(route) === undefined,
    )
    expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([])
    expect(routes.length).toBeGreaterThan(80)
    const webhooks = routes.filter(({ path }) => /webhooks/.test(path))
    expect(webhooks.filter(({ right }) => !right.startsWith('webhooks:'))).toEqual([])
  })

  // Leaving and ending sessions is allowed to all, and would end the test's own one.
  const endsItself = /\/leave$|\/sessions\/|\/live$/

  promise`P1`
  test.each(roles)(
    'A member with the role %s gets what it may and 403 for the rest.',
    async (role) => {
      const one = await member(w, owner, role)
      const { auditEntries } = w.db.tables
      const before = await w.deps.statements.list(owner.wallet, { limit: 100, after: undefined })
      for (const route of routes.filter(({ path }) => !endsItself.test(path))) {
        // What an owner may would be done.
        if (role === 'owner' && /revoke$|erase$|rotate$|pause$|resume$|cancel$/.test(route.path))
          continue
        const answer = await send(one, route)
        const name = `${role} ${route.method} ${route.path}`
        const text = await answer.clone().text()
        const isDenied = answer.status === 403
        if (may({ role }, route.right)) {
          expect([name, isDenied]).toEqual([name, false])
        } else if (route.path === '/dashboard') {
          expect([answer.status, answer.headers.get('location')]).toEqual([303, homes[role]])
        } else {
          expect([name, answer.status]).toEqual([name, 403])
          if (!route.path.startsWith('/dashboard')) {
            expect([name, await errorType(answer)]).toEqual([name, 'role_denied'])
          }
        }
        // A developer sees nothing outside of the branch, whichever route it is.
        if (role === 'developer') expect([name, text.includes(secretName)]).toEqual([name, false])
      }
      expect(auditEntries).toBeDefined()
      const after = await w.deps.statements.list(owner.wallet, { limit: 100, after: undefined })
      expect(after.items.length).toBe(before.items.length)
    },
  )

  test.each(roles)('Pages show a %s no form and no link that would be refused.', async (role) => {
    const one = await member(w, owner, role)
    const pages = routes.filter(
      ({ method, path, right }) =>
        method === 'GET' && path.startsWith('/dashboard') && may({ role }, right),
    )
    for (const route of pages) {
      const answer = await send(one, route)
      if (answer.status !== 200) continue
      const html = await answer.text()
      const calls = [
        ...[...html.matchAll(/<form[^>]*method="post"[^>]*action="([^"]+)"/g)].map(
          ([, path = '']) => ['POST', path] as const,
        ),
        ...[...html.matchAll(/href="(\/dashboard[^"]*)"/g)].map(
          ([, path = '']) => ['GET', path] as const,
        ),
      ]
      for (const [method, path] of calls) {
        const right = rightFor(method, path.replace(/[?#].*$/, ''))
        if (right === undefined) continue
        const name = `${role} on ${route.path}: ${method} ${path}`
        expect([name, may({ role }, right)]).toEqual([name, true])
      }
    }
  })

  const rightFor = (method: string, path: string): Right | undefined => {
    const fit = routes.filter(
      (one) =>
        one.method === method && new RegExp(`^${one.path.replace(/:\w+/g, '[^/]+')}$`).test(path),
    )
    return fit.sort((a, b) => a.path.split(':').length - b.path.split(':').length)[0]?.right
  }
})
