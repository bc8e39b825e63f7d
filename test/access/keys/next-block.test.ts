import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../../src/access/keys/change.ts'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'

const now = Date.UTC(2026, 10, 22, 12)
const day = 86_400_000
const poor = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

describe('next_block of GET /v1/keys/self', () => {
  let w: World
  beforeAll(async () => {
    w = await world({ now, toml: pricedBuiltins })
    await w.key({ balance: usd })
  })
  afterAll(() => w.stop())

  type Self = {
    chain: { key_id: string; limited_by: string; remaining_nusd: number; status: string }[]
    next_block: { type: string; at: string }
  }
  const selfOf = async (key: string): Promise<Self> =>
    (await w.call('/v1/keys/self', { key })).json()
  const at = new Date(now).toISOString()

  test('insufficient_balance, now, where the account has nothing', async () => {
    const { secret } = await w.key({ account: poor })
    expect((await selfOf(secret)).next_block).toEqual({ type: 'insufficient_balance', at })
  })

  test('cap_exceeded, now, where a key above has nothing left, and the chain says which', async () => {
    const top = await w.key({ capLimit: usd })
    const parent = await w.key({ capLimit: usd, parentId: top.key.id })
    const child = await w.key({ capLimit: usd, parentId: parent.key.id })
    const messages = [{ role: 'user', content: 'word' }]
    const json = { model: 'counterfoil/echo-1', messages, max_tokens: 1 }
    expect((await w.call('/v1/chat/completions', { key: child.secret, json })).status).toBe(200)
    expect((await selfOf(child.secret)).next_block.type).toBe('key_expired')
    // One word in and out: all that may be spent is spent.
    const change = { capLimit: 750n }
    await changeKey(w.deps, { keyId: parent.key.id, actor: 'test', change })
    const { next_block, chain } = await selfOf(child.secret)
    expect(next_block).toEqual({ type: 'cap_exceeded', at })
    expect(chain.map(({ key_id, remaining_nusd }) => [key_id, remaining_nusd])).toEqual([
      [child.key.id, Number(usd) - 750],
      [parent.key.id, 0],
      [top.key.id, Number(usd) - 750],
    ])
    expect((await w.call('/v1/chat/completions', { key: child.secret, json })).status).toBe(402)
  })

  test('key_paused where a key above is paused, though the key itself is not', async () => {
    const parent = await w.key()
    const child = await w.key({ parentId: parent.key.id })
    await pauseKey(w.deps, { keyId: parent.key.id, actor: 'test' })
    const self = await selfOf(child.secret)
    expect(self.next_block).toEqual({ type: 'key_paused', at })
    expect(self.chain.map(({ key_id }) => key_id)).toEqual([child.key.id, parent.key.id])
  })

  test('key_expired at the first expiry of the chain', async () => {
    const top = await w.key({ expiresAt: now + 20 * day })
    const parent = await w.key({ parentId: top.key.id, expiresAt: now + 10 * day })
    const child = await w.key({ parentId: parent.key.id, expiresAt: now + 10 * day })
    const { next_block, chain } = await selfOf(child.secret)
    expect(next_block).toEqual({
      type: 'key_expired',
      at: new Date(now + 10 * day).toISOString(),
    })
    expect(chain).toHaveLength(3)
  })
})
