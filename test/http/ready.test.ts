import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { engines, type World, world } from '../support/world.ts'
import { raw } from './service.ts'

const paths = ['/livez', '/v1/models', '/v1/signer', '/v1/status']

for (const engine of engines) {
  describe(`reads that need no route on ${engine}`, () => {
    let w: World
    beforeAll(async () => {
      w = await world({ engine })
    })
    afterAll(() => w.stop())

    test.each(paths)('GET %s says what its route says, with the same headers', async (path) => {
      // A query sends it to the route.
      const [ready, routed] = [await w.call(path), await w.call(`${path}?x`)]
      expect(ready.status).toBe(200)
      expect(comparable(ready)).toEqual(comparable(routed))
      expect(await withoutAge(ready)).toEqual(await withoutAge(routed))
    })

    test.each(paths)('%s takes another method as before', async (path) => {
      expect((await w.call(path, { method: 'HEAD' })).status).toBe(200)
      expect((await w.call(path, { method: 'DELETE' })).status).toBe(405)
    })

    test.each(paths)('GET %s of another host is refused', async (path) => {
      const port = new URL(w.origin).port
      for (const host of ['evil.example', `evil.example:${port}`, `localhost:${port}/v1`]) {
        const answer = await raw(Number(port), `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
        expect([400, 421]).toContain(answer.status)
      }
    })

    test('each answer has an id of its own', async () => {
      const ids = new Set<string | null>()
      for (let n = 0; n < 20; n++) ids.add((await w.call('/livez')).headers.get('x-request-id'))
      expect(ids.size).toBe(20)
    })
  })
}

const comparable = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)))

/** A second may pass between two answers. */
const withoutAge = async (answer: Response) => {
  const { uptime_s: _, ...body } = await answer.json()
  return body
}
