import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../../src/access/keys/change.ts'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

const start = Date.UTC(2026, 5, 1)

describe.each(engines)('what is done to a key that was just used, on %s', (engine) => {
  let w: World
  let passed = 0
  beforeAll(async () => {
    // The test is a proxy whose word is taken, and no time passes: what is remembered stays.
    const toml = 'trusted_proxies = ["127.0.0.1", "::1"]'
    w = await world({ engine, now: start, monotonic: () => passed, toml })
    await w.key({ balance: usd })
  }, 60_000)
  afterAll(() => w.stop())

  const ask = async (key: string, path = '/v1/balance', from = '10.0.0.1') => {
    const answer = await w.call(path, { key, headers: { 'x-forwarded-for': from } })
    const told = await answer.json()
    return `${answer.status} ${told.error?.type ?? 'fine'}`
  }

  test('holds at once, for it and for a key below', async () => {
    const { key, secret } = await w.key()
    const child = await w.key({ parentId: key.id })
    const wish = { keyId: key.id, actor: 'test' }
    const both = async () => [await ask(secret), await ask(child.secret)]
    expect(await both()).toEqual(['200 fine', '200 fine'])
    await pauseKey(w.deps, wish)
    expect(await both()).toEqual(['403 key_paused', '403 key_paused'])
    await resumeKey(w.deps, wish)
    expect(await both()).toEqual(['200 fine', '200 fine'])
    await revokeKey(w.deps, wish)
    expect(await both()).toEqual(['403 key_revoked', '403 key_revoked'])
  }, 30_000)

  test('leaves a paused key its own state to read, from its networks alone', async () => {
    const { key, secret } = await w.key({ ipCidrs: ['10.0.0.0/8'] })
    const plain = await w.key()
    for (const { id } of [key, plain.key]) await pauseKey(w.deps, { keyId: id, actor: 'test' })
    const self = '/v1/keys/self'
    expect([await ask(secret, self), await ask(plain.secret, self)]).toEqual([
      '200 fine',
      '200 fine',
    ])
    expect(await ask(secret, self, '192.0.2.1')).toBe('403 ip_not_allowed')
    expect(await ask(secret)).toBe('403 key_paused')
  }, 30_000)

  test('ends at the moment of its expiry, to the millisecond', async () => {
    const expiresAt = w.deps.clock.now() + 1000
    const { secret } = await w.key({ expiresAt })
    expect(await ask(secret)).toBe('200 fine')
    w.advance(999)
    expect(await ask(secret)).toBe('200 fine')
    w.advance(1)
    expect([await ask(secret), await ask(secret, '/v1/keys/self')]).toEqual([
      '403 key_expired',
      '403 key_expired',
    ])
  }, 30_000)

  test('ends with a key above that was to end later when it was made', async () => {
    const parent = await w.key()
    const { secret } = await w.key({ parentId: parent.key.id })
    expect(await ask(secret)).toBe('200 fine')
    const change = { expiresAt: w.deps.clock.now() + 1000 }
    await changeKey(w.deps, { keyId: parent.key.id, actor: 'test', change })
    expect(await ask(secret)).toBe('200 fine')
    w.advance(1000)
    expect([await ask(secret), await ask(parent.secret)]).toEqual([
      '403 key_expired',
      '403 key_expired',
    ])
  }, 30_000)

  test('is noted as its last use, and a request that a limit refused is none', async () => {
    const { key, secret } = await w.key({ rpm: 1 })
    const lastUse = async () => {
      await w.deps.keys.writeUses()
      return (await w.deps.keys.find(key.id))?.lastUsedAt
    }
    expect(await lastUse()).toBeNull()
    const used = w.deps.clock.now()
    expect(await ask(secret)).toBe('200 fine')
    expect(await lastUse()).toBe(used)
    w.advance(5000)
    expect(await ask(secret)).toBe('429 rate_limited')
    expect(await lastUse()).toBe(used)
    passed += 60_000
    expect([await ask(secret, '/v1/keys/self'), await lastUse()]).toEqual([
      '200 fine',
      w.deps.clock.now(),
    ])
  }, 30_000)
})
