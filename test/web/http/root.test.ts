import { afterAll, describe, expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { methodNotAllowed } from '../../../src/web/http/methods.ts'
import { makeRoot } from '../../../src/web/http/root.ts'
import { promise } from '../../support/promise.ts'
import { goodKey, limitBytes, raw, startService } from './service.ts'

const service = startService({
  showRefusal: (refusal, { requestId, wants }) => ({
    html: `<p>${wants} ${refusal.type} ${requestId}`,
    headers: { 'content-security-policy': "default-src 'self'" },
  }),
})
const { origin, port } = service
afterAll(service.stop)

const errorOf = async (answer: Response) => (await answer.json()).error
const json = { 'content-type': 'application/json' }

describe('order of refusals: route, key, rate, body', () => {
  const tooLarge = `"${'x'.repeat(limitBytes)}"`
  const slow = { authorization: `${goodKey}-slow` }
  const good = { authorization: goodKey }
  const table: [string, string, string, Record<string, string>, string | undefined, number][] = [
    ['no route before no key', 'POST', '/v1/none', {}, tooLarge, 404],
    ['wrong method before no key', 'PUT', '/v1/runs', {}, tooLarge, 405],
    ['no key before a large body', 'POST', '/v1/runs', json, tooLarge, 401],
    ['no key before broken JSON', 'POST', '/v1/runs', json, '{', 401],
    ['no key before a wrong type', 'POST', '/v1/runs', {}, '{}', 401],
    ['a first request passes the rate', 'POST', '/v1/runs', { ...json, ...slow }, '{}', 200],
    ['rate before a large body', 'POST', '/v1/runs', { ...json, ...slow }, tooLarge, 429],
    ['rate before broken JSON', 'POST', '/v1/runs', { ...json, ...slow }, '{', 429],
    ['then a large body', 'POST', '/v1/runs', { ...json, ...good }, tooLarge, 413],
    ['then a wrong type', 'POST', '/v1/runs', { ...good, 'content-type': 'text/x' }, '{', 415],
    ['then broken JSON', 'POST', '/v1/runs', { ...json, ...good }, '{', 400],
    ['and a good one passes', 'POST', '/v1/runs', { ...json, ...good }, '{"a":1}', 200],
  ]
  test.each(table)(
    'Refusals come in their order: %s.',
    async (_, method, path, headers, body, status) => {
      const answer = await fetch(origin + path, { method, headers, body })
      expect(answer.status).toBe(status)
      if (status === 200) return
      const error = await errorOf(answer)
      expect(error.request_id).toBe(answer.headers.get('x-request-id'))
      expect(error.code).toBe(error.type)
    },
  )

  test('401 comes while the body is still on its way', async () => {
    const answer = await raw(
      port,
      `POST /v1/runs HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 9999999\r\n\r\n`,
    )
    expect(answer.status).toBe(401)
  })
})

describe('every answer', () => {
  const paths = ['/v1/status', '/v1/none', '/v1/boom', '/v1/broke', '/v1/secret', '/page']
  test.each(paths)('%s has an id of its own and the security headers', async (path) => {
    const [one, two] = await Promise.all([fetch(origin + path), fetch(origin + path)])
    expect(one.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
    expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'))
    expect(one.headers.get('x-content-type-options')).toBe('nosniff')
    expect(one.headers.get('referrer-policy')).toBe('no-referrer')
    expect(one.headers.get('cache-control')).toBe('no-store')
    const csp =
      path === '/page' ? "default-src 'self'" : "default-src 'none'; frame-ancestors 'none'"
    expect(one.headers.get('content-security-policy')).toBe(csp)
  })

  test('HEAD has the headers of GET and no body', async () => {
    const answer = await fetch(`${origin}/v1/status`, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
  })
})

describe('what a refusal says in headers', () => {
  test('401 invalid_key asks for a bearer', async () => {
    const answer = await fetch(`${origin}/v1/secret`)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  promise`D20 H: Only a refused payment and a charged answer tell a client not to try again.`
  test('402 tells SDKs not to retry and carries its metadata', async () => {
    const answer = await fetch(`${origin}/v1/broke`)
    expect(answer.status).toBe(402)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect((await errorOf(answer)).metadata).toEqual({ required_nusd: 5 })
  })

  test('429 says how long to wait, twice', async () => {
    const headers = { authorization: `${goodKey}-slow` }
    await fetch(`${origin}/v1/secret`, { headers })
    const answer = await fetch(`${origin}/v1/secret`, { headers })
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 61)
    expect(Number(answer.headers.get('retry-after-ms'))).toBeWithin(1, 60_001)
  })
})

describe('failed authentication is limited by client address', () => {
  const strict = startService({}, 'https://gw.example', 3)
  afterAll(strict.stop)
  const call = async (authorization: string, from: string) =>
    (
      await fetch(`${strict.origin}/v1/secret`, {
        headers: { authorization, 'x-forwarded-for': from },
      })
    ).status

  test('above it 429, while good keys and other addresses go on', async () => {
    const bad = 'Bearer sk-service-bad'
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push(await call(bad, `2001:db8:1:2::${i}`))
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    expect(await call(goodKey, '2001:db8:1:2::9')).toBe(200)
    expect(await call(bad, '2001:db8:1:3::1')).toBe(401)
    expect(await call(bad, '2001:db8:1:2::9')).toBe(429)
  })
})

describe('500 internal_error', () => {
  test('says nothing about the fault and logs it under the request id', async () => {
    service.logged.length = 0
    const answer = await fetch(`${origin}/v1/boom`)
    const text = await answer.text()
    expect(answer.status).toBe(500)
    expect(text).not.toContain('hunter2')
    expect(service.logged).toEqual([
      { err: expect.any(Error), request_id: answer.headers.get('x-request-id') },
    ])
  })

  test('a refusal is not logged', async () => {
    service.logged.length = 0
    await fetch(`${origin}/v1/broke`)
    expect(service.logged).toEqual([])
  })
})

describe("Elysia's own errors", () => {
  const app = makeRoot({
    baseUrl: 'http://localhost',
    listen: { hostname: '127.0.0.1', port: 80 },
    ids: makeIds(systemClock, systemRandom()),
    log: { error: () => undefined },
  })
    .get('/v1/query', () => 'ok', { query: t.Object({ secret: t.Integer() }) })
    // What a handler answers against its own schema, seen from outside its types.
    .get('/v1/answer', () => JSON.parse('"sk-1"'), { response: t.Object({ a: t.String() }) })
    .use(new Elysia().get('/v1/plugin', () => Promise.reject(new Error('late secret'))))
  const get = (path: string) =>
    app.handle(new Request(`http://localhost${path}`, { headers: { host: 'localhost' } }))

  test('a validation error is 400 and does not echo', async () => {
    const answer = await get('/v1/query?secret=sk-1')
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain('sk-1')
  })

  test('an answer against its schema is our bug: 500 without detail', async () => {
    const answer = await get('/v1/answer')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('sk-1')
  })

  test('a plugin that rejects is 500 without detail', async () => {
    const answer = await get('/v1/plugin')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('late')
  })
})

describe('who gets what shape', () => {
  const get = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(origin + path, { headers })
    expect(answer.status).toBe(404)
    return answer.text()
  }
  test('JSON under /v1, also for a browser', async () => {
    expect(await get('/v1/none', { accept: 'text/html', 'hx-request': 'true' })).toStartWith('{')
  })
  test('JSON under other roots of APIs, also for a browser', async () => {
    for (const path of ['/v1beta/none', '/v2/none', '/openai/v1/none', '/api/v1/none', '/api'])
      expect(await get(path, { accept: 'text/html', 'hx-request': 'true' })).toStartWith('{')
  })
  test('JSON from a route under /api unless a browser or htmx asks', async () => {
    expect(await get('/api/portal/lost', { accept: '*/*' })).toStartWith('{')
    expect(await get('/api/portal/lost', { accept: 'text/html,*/*' })).toStartWith('<p>page')
    expect(await get('/api/portal/lost', { 'hx-request': 'true' })).toStartWith('<p>fragment')
  })
  test('a page elsewhere, JSON when only that is asked for', async () => {
    expect(await get('/v1none', { accept: '*/*' })).toStartWith('<p>page')
    expect(await get('/none', { accept: 'application/json' })).toStartWith('{')
  })
})

describe('405 method_not_allowed', () => {
  const table: [string, string, string][] = [
    ['DELETE', '/v1/status', 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/status', 'GET, HEAD, OPTIONS'],
    ['PURGE', '/v1/status', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/receipts/verify', 'OPTIONS, POST'],
    ['HEAD', '/v1/receipts/verify', 'OPTIONS, POST'],
    ['POST', '/v1/receipts/rcpt_1', 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/secret', 'GET, HEAD'],
    ['OPTIONS', '/v1/secret', 'GET, HEAD'],
    ['GET', '/v1/runs', 'POST'],
  ]
  test.each(table)('A wrong method is a 405: %s %s.', async (method, path, allow) => {
    const answer = await raw(
      port,
      `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.status).toBe(405)
    expect(answer.headers['allow']).toBe(allow)
  })

  test('a route that lets Elysia read its body stops the start', () => {
    const app = new Elysia().post('/v1/careless', () => 'x')
    expect(() => methodNotAllowed(app)).toThrow("POST /v1/careless must say parse: 'none'")
  })
})

promise`C10 H: A path is decoded once and checked: none of its bytes causes a 500.`
describe('404 for a path that cannot be decoded, so no parameter is ever null', () => {
  const get = (path: string) => raw(port, `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  test.each(['%zz', '%ff', '%', '%E2%82', 'a%'])('%s', async (id) => {
    expect((await get(`/v1/receipts/${id}`)).status).toBe(404)
  })
  test('a query may hold any percent sign', async () => {
    expect((await get('/v1/receipts/%C3%A9?q=%zz')).status).toBe(200)
  })
})

describe('CORS', () => {
  test('open routes: any origin, never credentials, also on a refusal', async () => {
    for (const path of ['/v1/status', '/v1/receipts/rcpt_1']) {
      const answer = await fetch(origin + path, { headers: { origin: 'https://app.example' } })
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
    const refused = await fetch(`${origin}/v1/receipts/verify`, { method: 'POST', body: 'x' })
    expect(refused.status).toBe(415)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('preflight of an open route is 204', async () => {
    const answer = await fetch(`${origin}/v1/receipts/verify`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toBe('POST')
  })

  test.each(['/v1/secret', '/v1/none', '/api/portal/x'])('nothing on %s', async (path) => {
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await fetch(origin + path, {
        method,
        headers: { origin: 'https://a.example' },
      })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

promise`A16`
describe('a guarded route cannot be reached by another spelling', () => {
  test.each([
    '//v1/secret',
    '/v1//secret',
    '/./v1/secret',
    '/x/../v1/secret',
    '/%2e/v1/secret',
    '/v1/%2e/secret',
    '/v1/%73ecret',
    '/v1%2fsecret',
    '/v1/secret/',
    '/V1/secret',
    '/v1/SECRET',
    '/v1/secret;x',
    '/v1/secret%00',
    '/v1/secret%3f',
    '/v1\\secret',
    '/v1/secret#x',
    '/v1/secret?x',
    'http://evil.example/v1/secret',
  ])('The spelling %s reaches no guarded route without a key.', async (target) => {
    const before = service.count.reached
    for (const method of ['GET', 'HEAD', 'CONNECT']) {
      const answer = await raw(
        port,
        `${method} ${target} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`,
      )
      expect([400, 401, 404, 405, 421]).toContain(answer.status)
    }
    expect(service.count.reached).toBe(before)
  })
})
