import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../src/access/keys/change.ts'
import { revokeKey } from '../../src/access/keys/revoke.ts'
import { createApp } from '../../src/app/routes.ts'
import { engines, usd, type World, world } from '../support/world.ts'
import { raw } from './service.ts'

const paths = ['/livez', '/v1/models', '/v1/signer', '/v1/status']

for (const engine of engines) {
  describe(`reads that need no route on ${engine}`, () => {
    let w: World
    beforeAll(async () => {
      w = await world({ engine })
    })
    afterAll(() => w.stop())

    /** Handed to the router itself. */
    const ofRoute = (path: string, headers: Record<string, string> = {}) =>
      createApp(w.deps).handle(
        new Request(w.origin + path, { headers: { host: new URL(w.origin).host, ...headers } }),
      )

    test('GET /v1/keys/self says what its route says, at once after a write, and counts', async () => {
      const { key, secret } = await w.key({ rpm: 50, balance: usd })
      const bearer = { authorization: `Bearer ${secret}` }
      const self = async () => {
        const answer = await w.call('/v1/keys/self', { key: secret })
        return { left: answer.headers.get('x-ratelimit-remaining-requests'), answer }
      }
      for (const n of [49, 48, 47]) expect((await self()).left).toBe(String(n))
      const [ready, routed] = [(await self()).answer, await ofRoute('/v1/keys/self', bearer)]
      expect(routed.headers.get('x-ratelimit-remaining-requests')).toBe('45')
      expect([...ready.headers.keys()].filter((name) => name !== 'date').sort()).toEqual(
        [...routed.headers.keys(), 'content-length'].sort(),
      )
      const body = await ready.json()
      expect(body).toEqual(await routed.json())
      await changeKey(w.deps, { keyId: key.id, actor: 'test', change: { name: 'another' } })
      expect((await (await self()).answer.json()).name).toBe('another')
      await revokeKey(w.deps, { keyId: key.id, actor: 'test' })
      expect((await self()).answer.status).toBe(403)
    })

    test.each(paths)('GET %s says what its route says, with the same headers', async (path) => {
      const [ready, routed] = [await w.call(path), await ofRoute(path)]
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
  Object.fromEntries(
    [...headers].filter(([name]) => !['date', 'content-length', 'x-request-id'].includes(name)),
  )

/** A second may pass between two answers. */
const withoutAge = async (answer: Response) => {
  const { uptime_s: _, ...body } = await answer.json()
  return body
}
