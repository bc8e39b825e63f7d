import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from '../../access/accounts/wallet.ts'
import { adminWorld, html, htmx, json, other } from '../../front/admin/admin.ts'
import { modelToml, upstreamToml } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, testAccount, usd, type World } from '../../support/world.ts'

setDefaultTimeout(60_000)

const cost = 'cost = { input_pusd = 400_000, output_pusd = 900_000 }'
/** Sold at 1,000,000 and 2,000,000 pico-USD: less than this costs. */
const dear = 'cost = { input_pusd = 9_000_000, output_pusd = 9_000_000 }'

describe.each(engines)('margins, as the operator sees them on %s', (engine) => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let own: Browser
  let theirs: Browser
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml =
      upstreamToml('stub', stub.url) +
      modelToml('stub/good', `{ to = "stub:usage-exact", ${cost} }`) +
      modelToml('stub/dear', `{ to = "stub:usage-exact", ${dear} }`) +
      modelToml('stub/unknown', '"stub:usage-exact"')
    ;({ w, own, theirs } = await adminWorld({ engine, toml }))
    for (const [account, model] of [
      [testAccount, 'stub/good'],
      [other, 'stub/good'],
      [other, 'stub/dear'],
      [other, 'stub/unknown'],
    ] as const) {
      const { secret } = await w.key({ account, balance: usd })
      const body = { model, messages: [{ role: 'user', content: 'hello' }] }
      const answer = await w.call('/v1/chat/completions', { key: secret, json: body })
      expect(answer.status).toBe(200)
    }
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })
  const read = async (query = '') =>
    (await own.call(`/api/portal/admin/margins${query}`, { headers: json })).json()

  // 7 tokens read and 5 written.
  const good = { revenue_nusd: 17_000, cost_nusd: 7300, margin_nusd: 9700, margin_usd: '0.0000097' }
  const loss = { revenue_nusd: 17_000, cost_nusd: 108_000, margin_nusd: -91_000 }

  test('revenue, cost and margin by model, the lowest first, with all of it', async () => {
    const { data, totals, by } = await read()
    expect(by).toBe('model')
    expect(data).toMatchObject([
      { model: 'stub/dear', runs: 1, ...loss, margin_percent: '-535.2' },
      {
        model: 'stub/good',
        runs: 2,
        revenue_nusd: 34_000,
        cost_nusd: 14_600,
        margin_percent: '57.0',
      },
    ])
    expect(totals).toMatchObject({ runs: 3, revenue_nusd: 51_000, cost_nusd: 122_600 })
  })

  test('by account and by day', async () => {
    const { data } = await read('?by=account')
    expect(data).toMatchObject([
      { account: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', runs: 2 },
      { account: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', runs: 1, ...good },
    ])
    const today = new Date(w.deps.clock.now()).toISOString().slice(0, 10)
    expect((await read(`?by=day&from=${today}&to=${today}`)).data).toMatchObject([
      { day: today, runs: 3, margin_nusd: -71_600 },
    ])
    expect((await read('?from=2020-01-01&to=2020-01-31')).data).toEqual([])
  })

  test('a range that is none is refused, on the page in words', async () => {
    for (const query of ['?by=key', '?from=2026-13-01', '?days=7&from=2026-01-01']) {
      const path = `/margins${query}`
      const answer = await own.call(`/api/portal/admin${path}`, { headers: json })
      expect(answer.status).toBe(400)
      const page = await (await own.call(`/dashboard/admin${path}`, { headers: html })).text()
      expect(page).toContain('role="alert"')
    }
    const time = '?from=2026-01-01T12:00:00Z&to=2026-01-02'
    expect((await read(time)).error.message).toContain('by day')
  })

  test('the page shows them with a warning of what is sold below cost, in parts too', async () => {
    const page = await (await own.call('/dashboard/admin/margins', { headers: html })).text()
    expect(page).toContain('Sold below cost')
    expect(page).toContain('stub/dear sells input at $1.00, stub:usage-exact costs $9.00 per 1M')
    expect(page).toContain('Loss')
    expect(page).toContain('step: stub/unknown.')
    const part = await (await own.call('/api/portal/admin/margins', { headers: htmx })).text()
    expect(part).not.toContain('<html')
    expect(part).toContain('stub/good')
    const models = await (await own.call('/dashboard/admin/models', { headers: html })).text()
    expect(models).toContain('stub/dear sells output')
    const { below_cost } = await (
      await own.call('/api/portal/admin/models', { headers: json })
    ).json()
    expect(below_cost.filter((one: string) => !one.includes('plan'))).toHaveLength(2)
  })

  test('is 404 to everybody else', async () => {
    for (const path of ['/dashboard/admin/margins', '/api/portal/admin/margins']) {
      expect((await theirs.call(path, { headers: json })).status).toBe(404)
    }
  })
})
