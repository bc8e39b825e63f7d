import { afterEach, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { isForPrograms, restToMount, wholeApp } from '../../src/http/later.ts'
import { type World, world } from '../support/world.ts'

let w: World
afterEach(() => w?.stop())

/** Each route once, the answers to other methods left out. */
const pathsOf = (app: { routes: { method: string; path: string }[] }) =>
  new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path))

describe('what is mounted when somebody asks for it', () => {
  test('is all but what programs use, whose routes are there at once', async () => {
    w = await world()
    const app = createApp(w.deps)
    const first = pathsOf(app)
    expect([...first].filter((path) => !isForPrograms(`http://a.example${path}`))).toEqual([])
    const rest = pathsOf(await wholeApp(app)).difference(first)
    expect(rest.size).toBeGreaterThan(50)
    expect([...rest].filter((path) => isForPrograms(`http://a.example${path}`))).toEqual([])
    expect(restToMount(app)).toBeUndefined()
  })

  test('answers many that come first at once, and those after them', async () => {
    w = await world()
    const paths = ['/', '/verify', '/llms.txt', '/openapi.json', '/none', '/v1/none', '/v1/models']
    const ask = () => Promise.all(paths.map(async (path) => (await w.call(path)).status))
    const expected = [200, 200, 200, 200, 404, 404, 200]
    expect(await ask()).toEqual(expected)
    expect(await ask()).toEqual(expected)
  })

  test('keeps the body of the request that it was mounted for', async () => {
    w = await world()
    const json = { message: 'x'.repeat(100_000) }
    const answer = await w.call('/api/auth/verify', { json, headers: { origin: w.origin } })
    const after = await w.call('/api/auth/verify', { json, headers: { origin: w.origin } })
    expect(answer.status).toBe(after.status)
    expect(answer.status).toBeLessThan(500)
  })

  test('refuses as a page at once, and another method as 405', async () => {
    w = await world()
    const page = await w.call('/none', { headers: { accept: 'text/html' } })
    expect([page.status, page.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
    expect((await w.call('/verify', { method: 'DELETE' })).status).toBe(405)
    expect((await w.call('/v1/receipts/verify')).status).toBe(405)
  })
})

describe('a URL of programs', () => {
  const yes = ['/v1', '/v1/', '/v1?x', '/v1/models/a%2Fb', '/mcp', '/livez', '/readyz?verbose']
  const no = [
    '/',
    '/v',
    '/v1x',
    '/v1-a',
    '/v10',
    '/livezz',
    '/mcp_',
    '//v1',
    '/%761',
    '/V1',
    '/api',
  ]
  test.each(yes)('%s', (path) => expect(isForPrograms(`http://a${path}`)).toBe(true))
  test.each(no)('is not %s', (path) => expect(isForPrograms(`http://a${path}`)).toBe(false))
  test('may have a Host that is none', () => {
    expect([isForPrograms('/v1/status'), isForPrograms('/dashboard')]).toEqual([true, false])
  })
})
