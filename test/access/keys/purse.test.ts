import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../../src/access/keys/change.ts'
import { issueVouchers } from '../../../src/billing/vouchers/issue-vouchers.ts'
import { toldHeld } from '../../../src/ledger/purse.ts'
import { modelsToml, until } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

const batch = { amount: usd, count: 1, lifeMs: 86_400_000, perAccount: null, actor: 'operator' }

describe.each(engines)('the money that a key may know of, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let root = ''
  let child = ''
  let grandchild = ''
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ engine, toml: modelsToml(stub.url, ['stall']) })
    const made = await w.key({ balance: 10n * usd })
    const below = await w.key({ parentId: made.key.id, capLimit: 2n * usd })
    const last = await w.key({ parentId: below.key.id, capLimit: 5n })
    ;[root, child, grandchild] = [made.secret, below.secret, last.secret]
  }, 60_000)
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const get = async (key: string, path: string) => {
    const answer = await w.call(path, { key })
    return { status: answer.status, body: await answer.json() }
  }

  test('a key without a parent sees the account, and a key below another what it can spend', async () => {
    const shown: unknown[] = []
    for (const key of [root, child, grandchild]) {
      const { body } = await get(key, '/v1/balance')
      const { account } = (await get(key, '/v1/keys/self')).body
      const { address, ...same } = account
      expect(body).toEqual({ object: 'balance', account: address, ...same })
      shown.push([same.covers, same.balance_nusd, same.held_nusd, same.available_nusd])
    }
    const [all, some] = [Number(10n * usd), Number(2n * usd)]
    expect(shown).toEqual([
      ['account', all, 0, all],
      ['key', some, 0, some],
      ['key', 5, 0, 5],
    ])
  })

  test('what is left of a cap above, or of the balance, is the most that a key below can spend', async () => {
    const account = `0x${'7'.repeat(40)}`
    const poor = await w.key({ account, balance: 7n })
    const below = await w.key({ account, parentId: poor.key.id, capLimit: 2n * usd })
    expect((await get(below.secret, '/v1/balance')).body).toMatchObject({ available_nusd: 7 })
    const { key } = below
    const wide = await w.key({ account, parentId: key.id, capLimit: usd })
    await changeKey(w.deps, { keyId: key.id, actor: poor.key.id, change: { capLimit: 3n } })
    expect((await get(wide.secret, '/v1/balance')).body).toMatchObject({ available_nusd: 3 })
  })

  test.each(['/v1/deposits', '/liabilities/proof'])(
    '%s is for a key without a parent',
    async (path) => {
      const refused = await get(child, path)
      expect([refused.status, refused.body.error?.type]).toEqual([403, 'scope_denied'])
      expect(refused.body.error.message).toContain('ask by a key without a parent')
      expect((await get(root, path)).body.error?.type).not.toBe('scope_denied')
    },
  )

  test('a voucher that a key below redeems does not tell what the account has', async () => {
    const redeem = async (key: string) => {
      const { codes } = await issueVouchers(w.deps, batch)
      const answer = await w.call('/v1/vouchers/redeem', { key, json: { code: codes[0] } })
      return { status: answer.status, body: await answer.json() }
    }
    expect(await redeem(child)).toMatchObject({ status: 200, body: { balance_nusd: null } })
    const whole = Number(12n * usd)
    expect(await redeem(root)).toMatchObject({ status: 200, body: { balance_nusd: whole } })
  })

  const balanceOf = async (key: string) => (await get(key, '/v1/balance')).body

  /** A run that goes on until it is aborted. */
  const run = (key: string, most: number, signal?: AbortSignal) =>
    w.call('/v1/chat/completions', {
      key,
      json: { model: 'stub/stall', messages: [{ role: 'user', content: 'hi' }], max_tokens: most },
      ...(signal ? { signal } : {}),
    })

  test.each([
    ['the balance', usd],
    ['the cap of a key above', 2_000_000n],
  ])('a 402 for want of %s tells a key below only what its own runs hold', async (_, cap) => {
    const account = `0x${(cap === usd ? '8' : '9').repeat(40)}`
    const above = await w.key({ account, balance: cap === usd ? 2_000_000n : usd, capLimit: cap })
    const below = await w.key({ account, parentId: above.key.id, capLimit: cap })
    const leaves = new AbortController()
    const open = [run(above.secret, 600, leaves.signal), run(below.secret, 10, leaves.signal)]
    // A run is live before its hold is in the database.
    const held = async (key: string, least: number) => {
      const { held_nusd: now } = await balanceOf(key)
      return now > least && now
    }
    const own = await until('the hold below', () => held(below.secret, 0))
    await until('both holds', () => held(above.secret, own))
    const refused = await run(below.secret, 600)
    const { error } = await refused.json()
    expect([refused.status, own > 0, own < 600_000]).toEqual([402, true, true])
    expect(error.metadata.held_nusd).toBe(own)
    expect(Number(error.metadata.held_usd)).toBe(own / 1e9)
    const { available_nusd } = await balanceOf(below.secret)
    expect(error.metadata.available_nusd).toBe(available_nusd)
    const whole = (await (await run(above.secret, 600)).json()).error
    expect(whole.metadata.held_nusd).toBeGreaterThan(1_200_000)
    leaves.abort()
    await Promise.all(open.map((one) => one.catch(() => undefined)))
    await until('their end', () => w.deps.live.count() === 0)
  })
})

test("A member's top key has no parent, and learns what its own runs hold alone.", () => {
  const held = { purse: 5n, own: 2n }
  const toldTo = (branch: string | null) => toldHeld({ parentId: null, branch }, held)
  expect([toldTo(null), toldTo('key_1')]).toEqual([5n, 2n])
})
