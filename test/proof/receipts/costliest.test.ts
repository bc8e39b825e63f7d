import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { modelsToml } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(30_000)

type Listed = { data: { id: string; cost_nusd: number }[]; has_more: boolean }

describe.each(engines)('the costliest receipts of an account on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let own: Browser
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ engine, toml: modelsToml(stub.url, ['other']) })
    own = browser(w)
    await signInWith(own)
    const { secret } = await w.key({ account: testAccount, name: 'own', balance: 10n * usd })
    for (const [model, words] of [
      ['counterfoil/echo-1', 1],
      ['counterfoil/echo-1', 90],
      ['stub/other', 30],
      ['counterfoil/echo-1', 60],
    ] as const) {
      const json = { model, input: 'word '.repeat(words) }
      expect((await w.call('/v1/runs', { key: secret, json })).status).toBe(200)
    }
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const list = async (query: string): Promise<Listed> => {
    const headers = { accept: 'application/json' }
    const answer = await own.call(`/api/portal/receipts?${query}`, { headers })
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const costsOf = ({ data }: Listed) => data.map((one) => one.cost_nusd)
  const idsOf = ({ data }: Listed) => data.map(({ id }) => id)

  test('come first where they are asked for, in one page', async () => {
    const byTime = costsOf(await list('limit=100'))
    const byCost = byTime.toSorted((a, b) => b - a)
    expect(byCost).not.toEqual(byTime)
    const found = await list('sort=costliest&limit=3')
    expect(costsOf(found)).toEqual(byCost.slice(0, 3))
    expect(found.has_more).toBe(false)
  })

  test('are narrowed by model, and by who may see them', async () => {
    expect(costsOf(await list('sort=costliest&model=stub/other'))).toHaveLength(1)
    const [first = '', second = '', third = ''] = idsOf(await list('sort=costliest'))
    for (const [id, visibility] of [
      [second, 'public'],
      [third, 'unlisted'],
    ]) {
      const json = { visibility, sections: ['run', 'charge'] }
      const shared = await own.call(`/api/portal/receipts/${id}/share`, { method: 'POST', json })
      expect(shared.status).toBe(200)
    }
    expect(idsOf(await list('sort=costliest&visibility=public'))).toEqual([second])
    expect(idsOf(await list('sort=costliest&visibility=unlisted'))).toEqual([third])
    expect(idsOf(await list('sort=costliest&visibility=private'))[0]).toBe(first)
    expect(idsOf(await list('sort=costliest&visibility=private'))).not.toContain(second)
    expect(idsOf(await list('sort=costliest&visibility=public&model=stub/none'))).toEqual([])
  })

  test('of another order are refused', async () => {
    const headers = { accept: 'application/json' }
    const refused = await own.call('/api/portal/receipts?sort=cheapest', { headers })
    expect(refused.status).toBe(400)
  })

  test('stand on a page that says among how many, and that no new receipt changes', async () => {
    const headers = { accept: 'text/html' }
    const page = await (await own.call('/dashboard/receipts?sort=costliest', { headers })).text()
    expect(page).toContain('Costliest receipts')
    expect(page).toContain('Among the 10,000 newest receipts.')
    expect(page).not.toContain('/api/portal/receipts/live')
  })
})
