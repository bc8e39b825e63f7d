import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { browser, signInWith } from '../../access/accounts/wallet.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

const day = 86_400_000

describe.each(engines)('how far back a plan lists, on %s', (engine) => {
  let w: World
  let secret: string
  beforeAll(async () => {
    w = await world({ engine, now: Date.UTC(2026, 0, 1), toml: pricedBuiltins + soldPlansToml })
    const expiresAt = Date.UTC(2026, 11, 1)
    secret = (await w.key({ balance: 100n * usd, expiresAt })).secret
  }, 60_000)
  afterAll(() => w.stop())

  const run = async (): Promise<string> => {
    const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hi' }] }
    const answer = await w.call('/v1/chat/completions', { key: secret, json })
    await answer.text()
    return answer.headers.get('x-receipt-id') ?? ''
  }
  /** How many each of the four lists has. */
  const counts = async () => {
    const own = browser(w)
    await signInWith(own)
    const answers = await Promise.all([
      w.call('/v1/runs', { key: secret }),
      w.call('/v1/receipts', { key: secret }),
      own.call('/api/portal/runs'),
      own.call('/api/portal/receipts'),
    ])
    return Promise.all(answers.map(async (answer) => (await answer.json()).data.length))
  }

  test('30 days on the free plan and a year on builder; by its id everything stays', async () => {
    const oldest = await run()
    w.advance(29 * day)
    await run()
    expect(await counts()).toEqual([2, 2, 2, 2])
    w.advance(2 * day)
    expect(await counts()).toEqual([1, 1, 1, 1])
    expect((await w.call(`/v1/receipts/${oldest}`, { key: secret })).status).toBe(200)
    const own = browser(w)
    await signInWith(own)
    await own.call('/api/portal/plans/builder/subscribe', { json: {} })
    expect(await counts()).toEqual([2, 2, 2, 2])
    expect((await w.deps.accounts.find(testAccount))?.plan).toBe('builder')
  })
})
