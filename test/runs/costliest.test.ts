import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Browser, browser, signInWith } from '../access/accounts/wallet.ts'
import { modelsToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

setDefaultTimeout(30_000)

describe.each(engines)('the costliest runs of an account on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let own: Browser
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ engine, toml: modelsToml(stub.url, ['normal', 'status-429']) })
    own = browser(w)
    await signInWith(own)
    const { secret } = await w.key({ account: testAccount, name: 'own', balance: 10n * usd })
    for (const [model, input] of [
      ['normal', 'hi'],
      ['status-429', 'hi'],
      ['normal', 'a longer text '.repeat(40)],
      ['normal', 'a text '.repeat(20)],
    ]) {
      await w.call('/v1/runs', { key: secret, json: { model: `stub/${model}`, input } })
    }
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const list = async (query: string) => {
    const headers = { accept: 'application/json' }
    const answer = await own.call(`/api/portal/runs?${query}`, { headers })
    return { status: answer.status, body: await answer.json() }
  }
  const costsOf = (body: { data: { cost_nusd: number }[] }) => body.data.map((run) => run.cost_nusd)

  test('come first where they are asked for, in one page', async () => {
    const byTime = costsOf((await list('limit=100')).body)
    const byCost = byTime.toSorted((a, b) => b - a)
    expect(byCost).not.toEqual(byTime)
    expect(byCost.at(-1)).toBe(0)
    const { body } = await list('sort=costliest&limit=3')
    expect(costsOf(body)).toEqual(byCost.slice(0, 3))
    expect(body.has_more).toBe(false)
  })

  test('are narrowed like every list; another order is refused', async () => {
    expect(costsOf((await list('sort=costliest&status=failed')).body)).toEqual([0])
    expect((await list('sort=cheapest')).status).toBe(400)
  })

  test('stand on a page that says among how many, and that no new run changes', async () => {
    const headers = { accept: 'text/html' }
    const page = await (await own.call('/dashboard/runs?sort=costliest', { headers })).text()
    expect(page).toContain('Costliest runs')
    expect(page).toContain('10,000 newest')
    expect(page).not.toContain('/api/portal/runs/live')
  })
})
