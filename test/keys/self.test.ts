import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { pauseKey } from '../../src/keys/pause.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const now = Date.UTC(2026, 10, 22, 12)

for (const engine of engines) {
  describe(`GET /v1/keys/self before its route on ${engine}`, () => {
    let w: World
    let passed = 0
    beforeAll(async () => {
      w = await world({ engine, now, monotonic: () => passed })
    }, 60_000)
    afterAll(() => w.stop())

    test('says the same counts again once pages are mounted', async () => {
      const { secret } = await w.key({ rpm: 600, balance: usd })
      const counts = async () => {
        // As long as one of 600 takes to come back.
        passed += 100
        const { headers } = await w.call('/v1/keys/self', { key: secret })
        return ['ratelimit', 'x-ratelimit-remaining-requests'].map((name) => headers.get(name))
      }
      const expected = ['"minute";r=599;t=1', '599']
      expect([await counts(), await counts()]).toEqual([expected, expected])
      expect((await w.call('/verify')).status).toBe(200)
      expect(await counts()).toEqual(expected)
    }, 30_000)

    test('reads nothing for a caller over its limit, or over that of a key above', async () => {
      const { key: parent } = await w.key({ rpm: 2, balance: usd })
      const { secret } = await w.key({ parentId: parent.id })
      const status = async () => (await w.call('/v1/keys/self', { key: secret })).status
      expect([await status(), await status()]).toEqual([200, 200])
      const shows = spyOn(w.deps.keys, 'show')
      expect([await status(), await status()]).toEqual([429, 429])
      expect(shows).toHaveBeenCalledTimes(0)
      shows.mockRestore()
    }, 30_000)

    test('reads once for a key that cannot be used now', async () => {
      const { key, secret } = await w.key({ balance: usd })
      await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
      const self = async () => (await w.call('/v1/keys/self', { key: secret })).json()
      expect((await self()).next_block.type).toBe('key_paused')
      const shows = spyOn(w.deps.keys, 'show')
      expect((await self()).next_block.type).toBe('key_paused')
      expect(shows.mock.calls.length).toBeLessThanOrEqual(1)
      shows.mockRestore()
    }, 30_000)
  })
}
