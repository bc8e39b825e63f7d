import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pricedBuiltins } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'
import { type Browser, browser, signInWith } from '../accounts/wallet.ts'

describe('the question before a revocation', () => {
  let w: World
  let own: Browser
  beforeAll(async () => {
    w = await world({ toml: pricedBuiltins })
    own = browser(w)
    await signInWith(own)
  })
  afterAll(() => w?.stop())

  test('says when the key was last used, at the moment it is asked', async () => {
    const { key, secret } = await w.key({ balance: usd })
    const path = `/dashboard/keys/${key.id}/revoke`
    const ask = async () => (await own.call(path, { headers: { accept: 'text/html' } })).text()
    expect(await ask()).toContain('never used')
    const body = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] }
    await w.call('/v1/chat/completions', { key: secret, json: body })
    // Its row says so only within the minute.
    expect((await w.deps.keys.find(key.id))?.lastUsedAt).toBeNull()
    const asked = await ask()
    expect(asked).not.toContain('never used')
    expect(asked).toMatch(/used <time [^>]+>just now<\/time>/)
  })
})
