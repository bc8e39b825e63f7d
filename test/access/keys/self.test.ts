import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { windowStart } from '../../../src/ledger/window.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

const now = Date.UTC(2026, 10, 22, 12)

for (const engine of engines) {
  describe(`GET /v1/keys/self on ${engine}`, () => {
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

    const tell = async (key: string) => (await w.call('/v1/keys/self', { key })).json()
    const timeAt = (at: number) => new Date(at).toISOString()
    /** A secret whose account is as it is asked for, and which is remembered. */
    const asked = async (wish: Parameters<World['key']>[0] = {}) => {
      const made = await w.key(wish)
      await tell(made.secret)
      await tell(made.secret)
      return made
    }

    test('tells what blocks a key now with the time of now, each time', async () => {
      const { secret } = await asked({ account: `0x${'12'.repeat(20)}` })
      for (const ms of [1, 1, -1, -1, -1, 60_000, 0]) {
        w.advance(ms)
        const at = timeAt(w.deps.clock.now())
        expect((await tell(secret)).next_block).toEqual({ type: 'insufficient_balance', at })
      }
    }, 30_000)

    test('tells of an old secret until its overlap ends, to the millisecond', async () => {
      const { key, secret } = await asked({ balance: usd })
      const from = w.deps.clock.now()
      const wish = { keyId: key.id, actor: 'test', overlapSeconds: 60 }
      const { secret: next } = await rotateKey(w.deps, wish)
      const told = async (one: string) => (await tell(one)).rotation
      const rotation = { overlap_until: timeAt(from + 60_000) }
      for (const ms of [0, 0, 59_999, 0]) {
        w.advance(ms)
        expect([await told(next), await told(secret)]).toEqual([rotation, rotation])
      }
      w.advance(1)
      expect(await told(next)).toBeNull()
    }, 30_000)

    test('tells what is left of a day until the day ends, to the millisecond', async () => {
      const { key, secret } = await asked({ capLimit: usd, capWindow: 'day', balance: usd })
      await w.deps.ledger.post({
        account: key.accountId,
        keys: key.lineage,
        decide: (unit) => {
          const window = unit.window(key)
          window.spent = 30n
          unit.changed('window', window)
        },
      })
      const left = async () => (await tell(secret)).chain[0].remaining_nusd
      const until = windowStart('day', w.deps.clock.now()) + 86_400_000
      expect([await left(), await left()]).toEqual([Number(usd) - 30, Number(usd) - 30])
      w.advance(until - w.deps.clock.now() - 1)
      expect([await left(), await left()]).toEqual([Number(usd) - 30, Number(usd) - 30])
      w.advance(1)
      expect([await left(), await left()]).toEqual([Number(usd), Number(usd)])
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
