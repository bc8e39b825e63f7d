import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { addReceipts, countAll, linesOf } from './receipts.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 21, 12)
const page = { accept: 'text/html' }
const htmx = { 'hx-request': 'true', accept: 'text/html' }
const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&`
const escaped = Bun.escapeHTML(hostile)

type Sums = { data: Record<string, unknown>[]; totals: { runs: number; cost_nusd: number } }

describe.each(engines)('the dashboard’s usage on %s', (engine) => {
  let w: World
  let own: Browser
  let root: { id: string; secret: string }

  beforeAll(async () => {
    w = await world({ engine, now })
    own = browser(w)
    expect((await signInWith(own)).status).toBe(200)
    const { key, secret } = await w.key({ balance: 10n * usd, name: 'root' })
    root = { id: key.id, secret }
    const child = await w.key({ parentId: root.id, name: hostile })
    const stranger = await w.key({ account: `0x${'e'.repeat(40)}`, balance: usd, name: 'strange' })
    const mine = { accountId: testAccount, keyId: root.id }
    await addReceipts(w, [
      { ...mine, finishedAt: now - 40 * day },
      { ...mine, finishedAt: now - 3 * day },
      { ...mine, finishedAt: now - 2 * day, tags: { team: hostile, job: 'x' } },
      { ...mine, finishedAt: now - 2 * day + 1, status: 'failed', outcome: 'failed', lines: [] },
      { ...mine, keyId: child.key.id, finishedAt: now - day, model: hostile },
      { ...mine, keyId: child.key.id, finishedAt: now - 1000, lines: linesOf(1000, 1000) },
      {
        accountId: `0x${'e'.repeat(40)}`,
        keyId: stranger.key.id,
        model: 'acme/strange',
        finishedAt: now - day,
      },
    ])
    await countAll(w)
  }, 60_000)
  afterAll(() => w.stop())

  const htmlOf = async (query = '', headers: Record<string, string> = page) => {
    const answer = await own.call(`/dashboard/usage${query}`, { headers })
    return { status: answer.status, html: await answer.text() }
  }
  const sums = async (query = ''): Promise<Sums> => {
    const answer = await own.call(`/api/portal/usage${query}`)
    expect(answer.status).toBe(200)
    return (await answer.json()) as Sums
  }

  describe('GET /dashboard/usage', () => {
    test('303 to the sign-in without a session, and back from there', async () => {
      const answer = await browser(w).call('/dashboard/usage?days=7', { headers: page })
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toBe('/signin?next=%2Fdashboard%2Fusage%3Fdays%3D7')
    })

    test('200 with the last 30 days: sums, a bar and a row of the twin for each day', async () => {
      const { status, html } = await htmlOf()
      expect(status).toBe(200)
      expect(html).toStartWith('<!doctype html>')
      expect(html).toContain(
        'Spend per day, by model, Oct 23 to Nov 21. Highest $0.00075 on Nov 21.',
      )
      expect(html.match(/<rect class="hit"/g)?.length).toBe(30)
      expect(html).toContain('aria-current="page">Spend')
      expect(html).toMatch(/<option value(="")? selected>30 days/)
      expect(html).toMatch(/<option value(="")? selected>model/)
      expect(html).toContain('Days in UTC')
      expect(html).toContain(
        '<th scope="row">Total</th><td class="num" data-at="more" data-label="Runs">5</td>',
      )
      expect(html).toContain('value="0.0013764"')
      expect(html).not.toContain('strange')
    })

    test('200 for 7, 90 and 365 days, and for dates', async () => {
      const week = (await htmlOf('?days=7')).html
      expect(week).toContain('Spend per hour, by model, Nov 15 to Nov 21.')
      expect(week.match(/<rect class="hit"/g)?.length).toBe(168)
      const year = (await htmlOf('?days=365')).html
      expect(year).toContain('Spend per week, by model, Nov 22, 2025 to Nov 21.')
      expect(year.match(/<rect class="hit"/g)?.length).toBe(53)
      const wide = await htmlOf('?days=90')
      expect(wide.html).toContain('<td class="num" data-at="more" data-label="Runs">6</td>')
      const dates = await htmlOf('?from=2026-11-18&to=2026-11-19')
      expect(dates.html).toContain('Spend per hour, by model, Nov 18 to Nov 19.')
      expect(dates.html).toContain('<td class="num" data-at="more" data-label="Runs">3</td>')
      expect(dates.html).toContain('name="from" type="date" value="2026-11-18"')
    })

    test('200 for each metric: what it is in the figure, the chart and the table', async () => {
      const requests = (await htmlOf('?metric=requests')).html
      expect(requests).toContain('Requests per day, by model, Oct 23 to Nov 21.')
      expect(requests).toContain('<b>80.0%</b> succeeded')
      const tokens = (await htmlOf('?metric=tokens')).html
      expect(tokens).toContain('Tokens per day, by class, Oct 23 to Nov 21.')
      expect(tokens).toContain('Cached input')
      const waits = (await htmlOf('?metric=first_token')).html
      expect(waits).toContain('Time to the first token per day: median, p90 and p95,')
      expect(waits.match(/<path class="ln l\d"/g)?.length).toBe(3)
      // Every chat of the fixture waited 500 ms.
      expect(waits).toMatch(/<data value="(4[89]\d|5[01]\d)">/)
    })

    test('200 by provider, and for one key: its own runs alone', async () => {
      expect((await htmlOf('?group_by=provider')).html).toContain('>acme</span>')
      const { html } = await htmlOf(`?key=${root.id}&group_by=day`)
      expect(html).toContain('<td class="num" data-at="more" data-label="Runs">3</td>')
      expect(html).toContain(`/dashboard/runs?key=${root.id}&amp;from=2026-11-19`)
      const other = (await htmlOf(`?key=key_${'0'.repeat(26)}`)).html
      expect(other).toContain('No usage in this period')
    })

    test('the period before is named, and the same length', async () => {
      const { html } = await htmlOf()
      expect(html).toContain('30 days before')
      expect(html).toContain('class="was"')
      expect((await htmlOf('?from=2025-01-01&to=2025-01-02')).html).not.toContain('class="was"')
    })

    test.each(['key', 'model', 'tag', 'provider'])(
      'Usage by %s shows names as text, even names that look like HTML.',
      async (by) => {
        const { status, html } = await htmlOf(`?group_by=${by}`)
        expect(status).toBe(200)
        if (by !== 'provider') expect(html).toContain(escaped)
        expect(html).not.toContain('<img src=x')
        expect(html).not.toContain('<script>alert')
        expect(html).toContain(by === 'tag' ? 'No tag' : 'Total')
      },
    )

    test('200 with what to do next where nothing was used', async () => {
      const { status, html } = await htmlOf('?from=2025-01-01&to=2025-01-02')
      expect(status).toBe(200)
      expect(html).toContain('Jan 1, 2025 to Jan 2, 2025')
      expect(html).toContain('No usage in this period')
      expect(html).not.toContain('<footer></footer>')
      expect(html).toContain('Show the last 90 days')
      expect(html).not.toContain('/api/portal/usage/export')
    })

    test.each([
      ['?days=12', '&quot;days&quot; must be one of: 7, 30, 90, 365, dates.'],
      ['?metric=joy', '&quot;metric&quot; must be one of: spend, requests, tokens, first_token.'],
      ['?key=mine', '&quot;key&quot; must be the id of a key.'],
      ['?from=2026-02-30', '&quot;from&quot; must be a date'],
      ['?from=2026-11-20&to=2026-11-19', '&quot;to&quot; must be later'],
      ['?from=2020-01-01', 'at most 366 days'],
      ['?group_by=colour', '&quot;group_by&quot; must be one or more of'],
      ['?page=0', '&quot;page&quot; must be an integer'],
      [`?from=${encodeURIComponent(hostile)}`, '&quot;from&quot; must be a date'],
    ])('400 in place for %s', async (query, words) => {
      const { status, html } = await htmlOf(query)
      expect(status).toBe(400)
      expect(html).toContain(words)
      expect(html).toContain('role="alert"')
      expect(html).not.toContain(hostile)
      expect(html).toContain('Show the last 30 days')
    })
  })

  describe('GET /api/portal/usage', () => {
    test('Usage without a session is a 401.', async () => {
      for (const path of ['', '/export']) {
        const answer = await browser(w).call(`/api/portal/usage${path}`)
        expect(answer.status).toBe(401)
        expect(await answer.json()).toMatchObject({ error: { type: 'session_required' } })
      }
    })

    test('200: the same sums as the key on top of all others gets under /v1', async () => {
      const query = '?from=2026-10-01&to=2026-11-21&group_by=day,key'
      const twin = await w.call(`/v1/usage${query}`, { key: root.secret })
      expect(await sums(query)).toEqual((await twin.json()) as Sums)
      expect((await sums('?days=90')).totals.runs).toBe(6)
      expect((await sums('?days=7')).totals.runs).toBe(5)
    })

    test('200: a fragment to htmx, a refusal as a note', async () => {
      const answer = await own.call('/api/portal/usage?group_by=key', { headers: htmx })
      const html = await answer.text()
      expect(html).toContain('id="usage"')
      expect(html).not.toContain('<html')
      const both = await own.call('/api/portal/usage?days=7&from=2026-11-01')
      expect([both.status, await both.text()]).toEqual([
        400,
        expect.stringContaining('not for both'),
      ])
      const refused = await own.call('/api/portal/usage?days=1', { headers: htmx })
      expect(refused.status).toBe(400)
      expect(await refused.text()).toContain('role="alert"')
    })

    promise`I10`
    test('no one else’s: another account sees its own', async () => {
      const other = browser(w)
      await signInWith(other, privateKeyToAccount(generatePrivateKey()))
      const answer = await other.call('/api/portal/usage?days=90')
      expect(((await answer.json()) as Sums).totals.runs).toBe(0)
    })
  })

  describe('GET /api/portal/usage/export', () => {
    test.each(['csv', 'jsonl', 'focus'])(
      '200 %s: the bytes of /v1, and again with as_of',
      async (format) => {
        const query = `format=${format}&from=2026-11-01&to=2026-11-21`
        const first = await own.call(`/api/portal/usage/export?${query}`)
        expect(first.status).toBe(200)
        const asOf = first.headers.get('x-as-of') ?? ''
        expect(first.headers.get('content-disposition')).toContain(`as-of-${asOf}.`)
        const bytes = await first.text()
        const again = await own.call(`/api/portal/usage/export?${query}&as_of=${asOf}`)
        expect(await again.text()).toBe(bytes)
        const twin = await w.call(`/v1/usage/export?${query}`, { key: root.secret })
        expect(await twin.text()).toBe(bytes)
        expect(bytes).not.toContain('acme/strange')
      },
    )

    test('400 for a format there is not, and for a log that is not so long', async () => {
      for (const query of ['format=xlsx', 'as_of=999999', 'from=yesterday']) {
        expect((await own.call(`/api/portal/usage/export?${query}`)).status).toBe(400)
      }
    })

    test('its links on the page stand for what the page shows', async () => {
      const { html } = await htmlOf('?days=7')
      const href = /href="(\/api\/portal\/usage\/export\?format=jsonl[^"]+)"/.exec(html)?.[1] ?? ''
      const answer = await own.call(href.replaceAll('&amp;', '&'))
      // The last is the manifest.
      expect((await answer.text()).trim().split('\n').length).toBe(6)
    })
  })
})
