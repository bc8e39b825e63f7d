import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../../src/access/keys/change.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { raw } from './service.ts'

const paths = ['/livez', '/v1/models', '/v1/signer', '/v1/status']

for (const engine of engines) {
  describe(`hot reads on ${engine}`, () => {
    let w: World
    beforeAll(async () => {
      w = await world({ engine })
    })
    afterAll(() => w.stop())

    test('GET /v1/keys/self counts every request and shows a change at once', async () => {
      const { key, secret } = await w.key({ rpm: 50, balance: usd })
      const self = async () => {
        const answer = await w.call('/v1/keys/self', { key: secret })
        const left = answer.headers.get('x-ratelimit-remaining-requests')
        return { left, status: answer.status, name: (await answer.json()).name }
      }
      for (const left of ['49', '48', '47'])
        expect(await self()).toMatchObject({ left, status: 200 })
      await changeKey(w.deps, { keyId: key.id, actor: 'test', change: { name: 'another' } })
      expect(await self()).toMatchObject({ left: '46', name: 'another' })
      await revokeKey(w.deps, { keyId: key.id, actor: 'test' })
      expect((await self()).status).toBe(403)
    })

    test.each(paths)('GET %s is JSON with the headers of every answer', async (path) => {
      const { status, headers } = await w.call(path)
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json;charset=utf-8'])
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('access-control-allow-origin')).toBe(path === '/livez' ? null : '*')
    })

    test.each(paths)('%s takes HEAD and refuses DELETE', async (path) => {
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
