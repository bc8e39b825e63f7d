import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { countAffected } from '../../../src/access/keys/affected.ts'
import { changeKey, type KeyChange } from '../../../src/access/keys/change.ts'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { windowStart } from '../../../src/ledger/window.ts'
import { fault } from '../../support/promise.ts'
import { usd, type World, world } from '../../support/world.ts'

const start = Date.UTC(2026, 5, 1)
const dayMs = 86_400_000

describe('the guards of keys', () => {
  let w: World
  beforeAll(async () => {
    w = await world({ now: start })
    await w.key({ balance: usd })
  })
  afterAll(() => w.stop())

  const refused = async (ask: () => Promise<unknown>) => {
    try {
      await ask()
      return 'nothing'
    } catch (error) {
      if (error instanceof Refusal) return error.type
      throw error
    }
  }

  test('what is done to a key that there is not is refused as not found', async () => {
    const none = { keyId: w.deps.ids.make('key'), actor: 'test' }
    const asked = [
      () => changeKey(w.deps, { ...none, change: { name: 'other' } }),
      () => pauseKey(w.deps, none),
      () => resumeKey(w.deps, none),
      () => revokeKey(w.deps, none),
      () => rotateKey(w.deps, { ...none, overlapSeconds: 0 }),
      () => countAffected(w.deps, none.keyId),
    ]
    for (const ask of asked) expect(await refused(ask)).toBe('not_found')
  })

  test.each(['Digest ', 'Token: ', 'bearer', 'Bearer:', 'Beare '])(
    'A secret after %j is not a bearer secret',
    async (scheme) => {
      const { secret } = await w.key()
      const of = (authorization: string) =>
        w.call('/v1/keys/self', { headers: { authorization } }).then(({ status }) => status)
      expect(await of(`${scheme}${secret}`)).toBe(401)
      expect(await of(`bEARER ${secret}`)).toBe(200)
    },
  )

  test('A key of a suspended account is refused on every route', async () => {
    const account = `0x${'ab'.repeat(20)}`
    const { secret } = await w.key({ account, balance: usd })
    expect((await w.call('/v1/keys/self', { key: secret })).status).toBe(200)
    await w.deps.ledger.post({
      account,
      keys: [],
      decide: (unit) => {
        const row = unit.account(account)
        if (!row) throw new Error('no account')
        row.status = 'suspended'
        unit.changed('account', row)
      },
    })
    w.deps.keys.forgetAccount(account)
    const answer = await w.call('/v1/keys/self', { key: secret })
    expect([answer.status, (await answer.json()).error.type]).toEqual([403, 'account_suspended'])
  })

  test('the headers of a limit tell of the key of the chain with the least left', async () => {
    const parent = await w.key({ rpm: 40 })
    const child = await w.key({ parentId: parent.key.id, rpm: 9 })
    const same = await w.key({ parentId: parent.key.id })
    const limitOf = async (key: string) =>
      (await w.call('/v1/keys/self', { key })).headers.get('x-ratelimit-limit-requests')
    expect(await limitOf(child.secret)).toBe('9')
    expect(await limitOf(same.secret)).toBe('40')
  })

  test('what a revocation would stop are the keys below that are good until now', async () => {
    const parent = await w.key()
    await w.key({ parentId: parent.key.id, expiresAt: w.deps.clock.now() + 1000 })
    const below = async () => (await countAffected(w.deps, parent.key.id)).keysBelow
    w.advance(999)
    expect(await below()).toBe(1)
    w.advance(1)
    expect(await below()).toBe(0)
  })

  fault`23`
  test('no key ends before it was made, though the clock went back', async () => {
    const { key } = await w.key()
    w.advance(-10 * dayMs)
    const expiresAt = key.createdAt - dayMs
    const change = () => changeKey(w.deps, { keyId: key.id, actor: 'test', change: { expiresAt } })
    expect(await refused(change)).toBe('invalid_request')
    w.advance(10 * dayMs)
  })

  test('a cap is lowered to what its window has taken, and not below', async () => {
    const { key } = await w.key({ capLimit: 100n })
    const change = (capLimit: bigint) =>
      changeKey(w.deps, { keyId: key.id, actor: 'test', change: { capLimit } })
    await w.deps.ledger.post({
      account: key.accountId,
      keys: key.lineage,
      decide: (unit) => {
        const window = unit.window(key)
        Object.assign(window, { spent: 30n, held: 10n })
        unit.changed('window', window)
      },
    })
    expect(await refused(() => change(39n))).toBe('conflict')
    expect((await change(40n)).capLimit).toBe(40n)
    expect((await change(41n)).capLimit).toBe(41n)
  })

  test('a clock set back into a day that took more than the cap of now leaves it that', async () => {
    const { key } = await w.key({ capLimit: 100n, capWindow: 'day' })
    const change = (wish: KeyChange) =>
      changeKey(w.deps, { keyId: key.id, actor: 'test', change: wish })
    await w.deps.ledger.post({
      account: key.accountId,
      keys: key.lineage,
      decide: (unit) => {
        const window = unit.window(key)
        Object.assign(window, { spent: 50n, held: 30n })
        unit.changed('window', window)
      },
    })
    w.advance(dayMs)
    await change({ capLimit: 20n })
    w.advance(-dayMs)
    const limit = async () => {
      const day = { keyId: key.id, start: windowStart('day', w.deps.clock.now()) }
      return (await w.deps.keys.windows([day]))[0]?.limit
    }
    await change({ name: 'other' })
    expect(await limit()).toBe(80n)
    await change({ capLimit: 90n })
    expect(await limit()).toBe(90n)
  })
})
