import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { changeKey } from '../../src/access/keys/change.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { rejectionOf } from '../support/rejection.ts'
import { lookedAgain, secondConnection } from '../support/second-connection.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'

/**
 * What the simulation has found so far, each by its seed and the command that showed it then: what a
 * seed plays changes with the simulation.
 */
describe('found by the simulation', () => {
  const now = Date.UTC(2026, 0, 15, 12)
  const hourMs = 3_600_000
  let w: World
  beforeAll(async () => {
    w = await world({ now })
  })
  afterAll(() => w.stop())

  /** Writes as another process does, and waits until the server looks for such writes again. */
  const elsewhere = async (work: Parameters<Db['write']>[0]): Promise<void> => {
    const other = secondConnection(w.db)
    await other.db.write(work)
    await other.close()
    await lookedAgain()
  }

  test('sqlite, seed 1, command 350: after the clock was set back no key ends before it began', async () => {
    const { key } = await w.key()
    w.advance(-24 * hourMs)
    const early = { keyId: key.id, actor: 'test', change: { expiresAt: now - hourMs } }
    const refused = { type: 'invalid_request', detail: { param: 'expires_at' } }
    expect(await rejectionOf(changeKey(w.deps, early))).toMatchObject(refused)
    const later = { ...early, change: { expiresAt: now + hourMs } }
    expect(await changeKey(w.deps, later)).toMatchObject({ expiresAt: now + hourMs })
    w.advance(24 * hourMs)
  })

  test('postgres, seed 1, command 193: a clock that was set back makes no remembered second longer', async () => {
    const { key, secret } = await w.key({ balance: usd })
    expect((await w.call('/v1/balance', { key: secret })).status).toBe(200)
    w.advance(-hourMs)
    const { keys } = w.db.tables
    await elsewhere(function* (q) {
      const paused = q.update(keys).set({ pausedAt: now }).where(eq(keys.id, key.id))
      yield* rows(paused.returning())
    })
    w.advance(2000)
    const answer = await w.call('/v1/balance', { key: secret })
    expect((await answer.json()).error.type).toBe('key_paused')
  })

  test('sqlite, seed 95, command 428: a key may be changed in a window that took more than its cap', async () => {
    const { key } = await w.key({ capWindow: 'day', capLimit: 100n, balance: usd })
    const { keyWindows } = w.db.tables
    const start = now - (now % (24 * hourMs))
    const spent = { keyId: key.id, windowStart: start, limit: 100n, spent: 90n, held: 0n }
    await w.db.write(function* (q) {
      yield* rows(q.insert(keyWindows).values(spent).returning())
    })
    const change = (capLimit: bigint) =>
      changeKey(w.deps, { keyId: key.id, actor: 'test', change: { capLimit } })
    w.advance(now + 24 * hourMs - w.deps.clock.now())
    await change(10n)
    w.advance(-24 * hourMs)
    expect((await change(50n)).capLimit).toBe(50n)
  })

  test('postgres, seed 20, command 312: a clock that was set back makes no remembered retention last longer', async () => {
    const { texts } = w.deps
    expect(await texts.retentionOf(testAccount)).toBe('none')
    w.advance(-hourMs)
    const { accountSettings } = w.db.tables
    await elsewhere(function* (q) {
      const kept = { accountId: testAccount, retention: '24h', consoleKeyId: null } as const
      yield* rows(q.insert(accountSettings).values(kept).returning())
    })
    w.advance(2000)
    expect(await texts.retentionOf(testAccount)).toBe('24h')
  })

  test('postgres, seed 101, command 632: a clock that was set back makes nothing fresh again', async () => {
    const { key, secret } = await w.key({ account: `0x${'7'.repeat(40)}`, balance: usd })
    const { texts } = w.deps
    expect((await w.call('/v1/balance', { key: secret })).status).toBe(200)
    expect(await texts.retentionOf(key.accountId)).toBe('none')
    w.advance(-hourMs)
    const { keys, accountSettings } = w.db.tables
    await elsewhere(function* (q) {
      const paused = q.update(keys).set({ pausedAt: now }).where(eq(keys.id, key.id))
      yield* rows(paused.returning())
      const kept = { accountId: key.accountId, retention: '24h', consoleKeyId: null } as const
      yield* rows(q.insert(accountSettings).values(kept).returning())
    })
    // Now it is again as late as when they were read.
    w.advance(hourMs)
    const answer = await w.call('/v1/balance', { key: secret })
    expect((await answer.json()).error.type).toBe('key_paused')
    expect(await texts.retentionOf(key.accountId)).toBe('24h')
  })
})
