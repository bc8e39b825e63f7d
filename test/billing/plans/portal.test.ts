import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { planRenewer } from '../../../src/billing/plans/renew.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { promise } from '../../support/promise.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

const now = Date.UTC(2026, 10, 21, 12)
const page = { accept: 'text/html' }
const htmx = { 'hx-request': 'true', accept: 'text/html' }
const hostile = `"><img src=x onerror=alert(1)>`
const toml = `[[plans]]
id = "team"
name = ${JSON.stringify(hostile)}
price_nusd = 50_000_000_000
`

describe.each(engines)('the dashboard’s plans on %s', (engine) => {
  let w: World
  let own: Browser
  let account: string
  let wallet: PrivateKeyAccount
  beforeAll(async () => {
    w = await world({ engine, now, toml: toml + soldPlansToml })
  }, 60_000)
  afterAll(() => w.stop())

  /** Someone new with money. */
  const arrive = async (dollars: bigint) => {
    wallet = privateKeyToAccount(generatePrivateKey())
    account = wallet.address.toLowerCase()
    own = browser(w)
    expect((await signInWith(own, wallet)).status).toBe(200)
    const { secret } = await w.key({ account, balance: dollars * usd })
    return secret
  }
  const post = async (path: string, json: unknown = {}) => {
    const answer = await own.call(`/api/portal/plans/${path}`, { json })
    return { status: answer.status, body: await answer.json() }
  }
  const form = (path: string, body = '', headers: Record<string, string> = page) =>
    own.call(`/api/portal/plans/${path}`, {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    })
  const html = async (query = '', headers: Record<string, string> = page) => {
    const answer = await own.call(`/dashboard/plan${query}`, { headers })
    return { status: answer.status, text: await answer.text() }
  }
  const balance = async () => (await w.deps.accounts.find(account))?.balance
  afterEach(async () => {
    expect(await auditStore(w.db).whole(now * 2)).toEqual([])
  })

  describe('without a session', () => {
    test.each([
      ['GET', '/api/portal/plans'],
      ['POST', '/api/portal/plans/builder/preview'],
      ['POST', '/api/portal/plans/builder/subscribe'],
      ['POST', '/api/portal/plans/cancel'],
      ['POST', '/api/portal/plans/resume'],
    ])('Without a session %s %s is a 401 session_required.', async (method, path) => {
      const answer = await browser(w).call(path, { method })
      expect(answer.status).toBe(401)
      expect((await answer.json()).error.type).toBe('session_required')
    })

    test('303 from the page to the sign-in', async () => {
      const answer = await browser(w).call('/dashboard/plan?to=scale', { headers: page })
      expect(answer.headers.get('location')).toBe('/signin?next=%2Fdashboard%2Fplan%3Fto%3Dscale')
    })
  })

  describe('GET /v1/plans', () => {
    test('401 invalid_key without a key; 200 with all plans and the one of its account', async () => {
      const secret = await arrive(100n)
      expect((await w.call('/v1/plans')).status).toBe(401)
      const body = await (await w.call('/v1/plans', { key: secret })).json()
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual([
        'free',
        'builder',
        'team',
        'scale',
      ])
      expect(body).toMatchObject({
        object: 'list',
        has_more: false,
        plan: 'free',
        subscription: null,
      })
      expect(body.data[1]).toEqual({
        id: 'builder',
        object: 'plan',
        name: 'Builder',
        price_nusd: 20_000_000_000,
        period: 'month',
        discount_bps: 500,
        limits: {
          rpm: 6000,
          concurrency: 1024,
          max_keys: 200,
          max_depth: 4,
          history_days: 365,
        },
        models: [],
      })
      await post('builder/subscribe')
      const after = await (await w.call('/v1/plans', { key: secret })).json()
      expect(after).toMatchObject({
        plan: 'builder',
        subscription: {
          object: 'subscription',
          plan: 'builder',
          status: 'active',
          price_nusd: 20_000_000_000,
          period_start: '2026-11-21T12:00:00.000Z',
          period_end: '2026-12-21T12:00:00.000Z',
          next_plan: null,
        },
      })
    })
  })

  describe('POST /api/portal/plans/:id/preview', () => {
    test('200 with what it would cost, and charges nothing', async () => {
      await arrive(500n)
      const { status, body } = await post('builder/preview')
      expect(status).toBe(200)
      expect(body).toEqual({
        object: 'plan.preview',
        plan: 'builder',
        change: 'now',
        charge_nusd: 20_000_000_000,
        credit_nusd: 0,
        starts_at: '2026-11-21T12:00:00.000Z',
        paid_until: '2026-12-21T12:00:00.000Z',
        quoted_at: '2026-11-21T12:00:00.000Z',
      })
      expect(await balance()).toBe(500n * usd)
      await post('builder/subscribe', { quoted_at: body.quoted_at })
      expect((await post('scale/preview')).body).toMatchObject({
        change: 'now',
        charge_nusd: 180_000_000_000,
        credit_nusd: 20_000_000_000,
      })
      expect((await post('free/preview')).body).toMatchObject({
        change: 'cancel',
        charge_nusd: 0,
        starts_at: '2026-12-21T12:00:00.000Z',
      })
    })

    promise`A13`
    test('404 for a plan there is not; 400 for a field it does not know', async () => {
      await arrive(1n)
      expect((await post('gold/preview')).status).toBe(404)
      expect((await post('builder/preview', { coupon: 'x' })).body.error.param).toBe('coupon')
    })

    test('303 to the page that shows it for a plain form; the panel for htmx', async () => {
      await arrive(500n)
      const answer = await form('scale/preview')
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toBe('/dashboard/plan?to=scale')
      const { text } = await html('?to=scale')
      expect(text).toContain('Pay $200.00 and start Scale')
      const part = await (await form('scale/preview', '', htmx)).text()
      expect(part).not.toContain('<html')
      expect(part).toContain('Pay $200.00 and start Scale')
    })
  })

  describe('POST /api/portal/plans/:id/subscribe', () => {
    test('200 and paid; asked for again nothing more is', async () => {
      await arrive(500n)
      const { status, body } = await post('builder/subscribe')
      expect(status).toBe(200)
      expect(body).toMatchObject({ plan: 'builder', status: 'active', available_nusd: 480e9 })
      expect((await post('builder/subscribe')).body).toMatchObject({ available_nusd: 480e9 })
    })

    test('402 insufficient_balance, in JSON and in place; nothing is charged', async () => {
      await arrive(10n)
      const { status, body } = await post('builder/subscribe')
      expect(status).toBe(402)
      expect(body.error).toMatchObject({
        type: 'insufficient_balance',
        metadata: { required_nusd: 20e9, available_nusd: 10e9, limited_by: 'balance' },
      })
      const plain = await form('builder/subscribe')
      expect(plain.status).toBe(402)
      expect(await plain.text()).toContain('This costs 20.00 USD now, and 10.00 USD are available.')
      const part = await form('builder/subscribe', '', htmx)
      expect(part.status).toBe(402)
      expect(await balance()).toBe(10n * usd)
    })

    test('400 invalid_request for a time no one showed; 409 conflict for one too long ago', async () => {
      await arrive(100n)
      expect((await post('builder/subscribe', { quoted_at: 'soon' })).status).toBe(400)
      expect(
        (await post('builder/subscribe', { quoted_at: '2026-13-99T99:99:99.000Z' })).status,
      ).toBe(400)
      const old = await post('builder/subscribe', { quoted_at: '2026-11-21T11:00:00.000Z' })
      expect(old.body.error).toMatchObject({ type: 'conflict', param: 'quoted_at' })
      expect(await balance()).toBe(100n * usd)
    })

    test('403 csrf_failed from another origin', async () => {
      await arrive(100n)
      const headers = { 'sec-fetch-site': 'cross-site' }
      const answer = await own.call('/api/portal/plans/builder/subscribe', { json: {}, headers })
      expect(answer.status).toBe(403)
      expect(await balance()).toBe(100n * usd)
    })
  })

  describe('POST /api/portal/plans/cancel and /resume', () => {
    test('409 conflict without a plan; else it ends with its period, or goes on again', async () => {
      await arrive(100n)
      expect((await post('cancel')).status).toBe(409)
      expect((await post('resume')).status).toBe(409)
      await post('builder/subscribe')
      expect((await post('cancel')).body).toMatchObject({ status: 'canceling' })
      expect((await html()).text).toContain('Builder ends on Dec 21, 2026.')
      expect((await post('resume')).body).toMatchObject({ status: 'active' })
      expect((await form('cancel')).headers.get('location')).toBe('/dashboard/plan')
    })
  })

  describe('GET /dashboard/plan', () => {
    test('200 with the plans side by side, and asks before a plan is cancelled', async () => {
      await arrive(100n)
      const { status, text } = await html()
      expect(status).toBe(200)
      expect(text).toContain('See what Scale changes')
      await post('builder/subscribe')
      const asked = (await html('?cancel=1')).text
      expect(asked).toContain('Cancel Builder on Dec 21, 2026')
      expect(asked).toContain('Discount on every run: 5% → None')
      expect((await html('?to=builder')).text).toContain('It continues unchanged.')
      expect((await html('?to=gold')).status).toBe(404)
    })

    test('shows what the operator named as text', async () => {
      await arrive(100n)
      const { text } = await html('?to=team')
      expect(text).not.toContain('<img')
      expect(text).toContain('&lt;img src=x')
    })

    test('says that a plan lapsed, and what was not charged', async () => {
      await arrive(20n)
      await post('builder/subscribe')
      // Last of all here: the sessions of the tests before do not live that long.
      w.advance(31 * 86_400_000)
      await planRenewer(w.deps)()
      await signInWith(own, wallet)
      const { text } = await html()
      expect(text).toContain('Builder lapsed on Dec 22, 2026.')
      expect(text).toContain('nothing is owed')
      expect((await post('builder/subscribe')).status).toBe(402)
    })
  })
})
