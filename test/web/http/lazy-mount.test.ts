import { afterEach, describe, expect, test } from 'bun:test'
import { createApp } from '../../../src/app/routes.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { mountLater, restToMount, wholeApp } from '../../../src/web/http/lazy-mount.ts'
import { isForPrograms } from '../../../src/web/http/paths.ts'
import { makeRoot } from '../../../src/web/http/root.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { type World, world } from '../../support/world.ts'

let w: World
afterEach(() => w?.stop())

/** Each route once, the answers to other methods left out. */
const pathsOf = (app: { routes: { method: string; path: string }[] }) =>
  new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path))

describe('what is mounted when someone asks for it', () => {
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

describe('what cannot be mounted', () => {
  /** An app whose page comes later, and how often that was loaded and mounted. */
  const startLate = (fails: { load?: number; mount?: boolean }) => {
    const listen = { hostname: '127.0.0.1', port: 0 }
    const logged: unknown[] = []
    const count = { loads: 0, mounts: 0 }
    const log = { error: (event: string, error: unknown) => void logged.push([event, error]) }
    const ids = makeIds(systemClock, systemRandom())
    const app = makeRoot({ baseUrl: 'https://gw.example', listen, ids, log })
    mountLater(app, async () => {
      if (count.loads++ < (fails.load ?? 0)) throw new Error('no file is left')
      return () => {
        count.mounts++
        app.get('/page', () => 'here')
        if (fails.mount) throw new Error('half of it')
      }
    })
    const server = serve(app, listen)
    stopLate = () => server.stop(true)
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`http://localhost:${listen.port}/page`, { headers })
    return { ask, count, logged }
  }
  let stopLate: () => Promise<void>
  afterEach(() => stopLate())

  /** The answer to a failure of ours, whole: its error, its id and the headers of all answers. */
  const expectFailure = async (answer: Response) => {
    expect(answer.status).toBe(500)
    const { error } = await answer.json()
    expect(error).toMatchObject({ type: 'internal_error' })
    expect(error.request_id).toBe(answer.headers.get('x-request-id'))
    expect(error.request_id).toStartWith('req_')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(answer.headers.get('cache-control')).toBe('no-store')
  }

  test('is a 500 like any other, and is loaded again for the next who asks', async () => {
    const { ask, count, logged } = startLate({ load: 1 })
    await expectFailure(await ask())
    expect(logged).toEqual([['request.failed', new Error('no file is left')]])
    const answers = await Promise.all([ask(), ask()])
    expect(await Promise.all(answers.map((one) => one.text()))).toEqual(['here', 'here'])
    expect(count).toEqual({ loads: 2, mounts: 1 })
  })

  test('once begun is not begun again: what stands already would stand twice', async () => {
    const { ask, count } = startLate({ mount: true })
    await expectFailure(await ask())
    await expectFailure(await ask())
    expect(count).toEqual({ loads: 1, mounts: 1 })
  })

  test('says nothing about it to another host', async () => {
    const { ask, logged } = startLate({ load: 1 })
    expect((await ask({ host: 'evil.example' })).status).toBe(421)
    expect(logged).toEqual([])
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
  test.each(yes)('The path %s is for programs.', (path) =>
    expect(isForPrograms(`http://a${path}`)).toBe(true),
  )
  test.each(no)('The path %s is not for programs.', (path) =>
    expect(isForPrograms(`http://a${path}`)).toBe(false),
  )
  test('may have a Host that is none', () => {
    expect([isForPrograms('/v1/status'), isForPrograms('/dashboard')]).toEqual([true, false])
  })
})
