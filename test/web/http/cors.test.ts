import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../../src/app/routes.ts'
import { wholeApp } from '../../../src/web/http/lazy-mount.ts'
import { promise } from '../../support/promise.ts'
import { type World, world } from '../../support/world.ts'

/** Lists the routes that pages of any origin may read: keyless GETs, and the check of a receipt. */
const open = [
  'GET /liabilities',
  'GET /liabilities/:number',
  'GET /v1/anchors',
  'GET /v1/explorer/recent',
  'GET /v1/explorer/stats',
  'GET /v1/models',
  'GET /v1/passports',
  'GET /v1/passports/:handle',
  'GET /v1/receipts/:id',
  'GET /v1/receipts/:id/proof',
  'GET /v1/signer',
  'GET /v1/status',
  'POST /v1/receipts/verify',
]

let w: World
let routes: string[]
beforeAll(async () => {
  w = await world()
  const whole = await wholeApp(createApp(w.deps))
  routes = whole.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`)
})
afterAll(() => w.stop())

const split = (route: string): [method: string, path: string] => {
  const [method = '', path = ''] = route.split(' ')
  return [method, path.replaceAll(/:\w+/g, 'none').replaceAll('*', 'none')]
}
const headers = { origin: 'https://anywhere.example' }
const preflight = (path: string, method: string) =>
  w.call(path, {
    method: 'OPTIONS',
    headers: { ...headers, 'access-control-request-method': method },
  })

describe('pages of any origin', () => {
  promise`B19`
  test.each(open)('%s may be read, without credentials', async (route) => {
    const [method, path] = split(route)
    const answer = await w.call(path, { method, headers })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id')
  })

  test.each(open)('The open route %s answers a preflight.', async (route) => {
    const [method, path] = split(route)
    const answer = await preflight(path, method)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toContain(method)
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  promise`B19`
  test('Pages of other origins may read no other route.', async () => {
    const free = ['GET /openapi.json', 'GET /openapi/:file', 'GET /llms.txt', 'GET /log/*']
    const closed = routes.filter((route) => !open.includes(route) && !free.includes(route))
    expect(closed.length).toBeGreaterThan(50)
    const wrong: string[] = []
    for (const route of closed) {
      const [method, path] = split(route)
      // A path may be open for one method and closed for another.
      if (open.some((one) => split(one)[1] === path)) continue
      const asked = await preflight(path, method)
      if (asked.headers.has('access-control-allow-origin')) wrong.push(`preflight of ${route}`)
      await asked.body?.cancel()
      const answer = await w.call(path, { method, headers })
      if (answer.headers.has('access-control-allow-origin')) wrong.push(route)
      // Some are streams that do not end.
      await answer.body?.cancel()
    }
    expect(wrong).toEqual([])
  }, 60_000)
})
