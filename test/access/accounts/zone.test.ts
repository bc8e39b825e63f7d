import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { DayOf, ExactTime, timesIn, When } from '../../../src/web/ui/when.tsx'
import { addReceipts, countAll } from '../../billing/usage/receipts.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { type Browser, browser, signInWith } from './wallet.ts'

const now = Date.UTC(2026, 10, 21, 20)
const page = { headers: { accept: 'text/html' } }

describe.each(engines)('the time zone of a person on %s', (engine) => {
  let w: World
  let own: Browser
  beforeAll(async () => {
    w = await world({ engine, now })
    own = browser(w)
    await signInWith(own)
    const { key } = await w.key({ balance: usd })
    const mine = { accountId: testAccount, keyId: key.id }
    // In Kathmandu the first is of the 21st, the second of the 22nd.
    await addReceipts(w, [
      { ...mine, finishedAt: Date.UTC(2026, 10, 21, 18, 10) },
      { ...mine, finishedAt: Date.UTC(2026, 10, 21, 18, 20) },
    ])
    await countAll(w)
  }, 60_000)
  afterAll(() => w.stop())

  const usage = async (by = own) =>
    (await by.call('/dashboard/usage?group_by=day&days=30', page)).text()

  test('is UTC until one is chosen, and then bounds the days of the charts', async () => {
    expect(await usage()).toContain('Days in UTC')
    const json = { time_zone: 'asia/kathmandu' }
    const answer = await own.call('/api/portal/zone', { method: 'POST', json })
    expect(answer.status).toBe(200)
    const { time_zone: named } = (await answer.json()) as { time_zone: string }
    expect(named).toStartWith('Asia/Kat')
    const html = await usage()
    expect(html).toContain(`Days in ${named}`)
    expect(html).toContain('/dashboard/runs?from=2026-11-21&amp;to=2026-11-21')
    expect(html).toMatch(/Nov 21, 2026<\/a><\/span><\/td><td [^>]*>1<\/td>/)
    expect(html).toMatch(/Nov 22, 2026<\/a><\/span><\/td><td [^>]*>1<\/td>/)
    expect(await (await own.call('/dashboard/settings', page)).text()).toContain(
      `<option value="${named}" selected>`,
    )
  })

  test('heads the days of lists and bounds their dates, while files and programs keep UTC', async () => {
    const me = browser(w)
    const signer = privateKeyToAccount(generatePrivateKey())
    await signInWith(me, signer)
    const { secret } = await w.key({ account: signer.address.toLowerCase(), balance: usd })
    // At 20:00 UTC it is the next day in Kathmandu.
    await w.call('/v1/runs', { key: secret, json: { model: 'counterfoil/echo-1', input: 'hi' } })
    await me.call('/api/portal/zone', { method: 'POST', json: { time_zone: 'Asia/Kathmandu' } })
    const dates = 'from=2026-11-22&to=2026-11-22'
    const html = await (await me.call(`/dashboard/runs?${dates}`, page)).text()
    expect(html).toMatch(/Times in Asia\/Kat/)
    expect(html.match(/data-day="[^"]*"/g)).toEqual(['data-day="2026-11-22"'])
    const [local, utc] = ['Nov 22, 2026, 01:45:\\d\\d GMT\\+5:45', 'Nov 21, 2026, 20:00:\\d\\d UTC']
    expect(html).toMatch(new RegExp(`title="${local}\\n${utc}"`))
    // The link names the moments of the page's days; dates of an address are of UTC for a file too.
    const link = html.match(/\/dashboard\/runs\.csv\?[^"]*/)?.[0].replaceAll('&amp;', '&') ?? ''
    const fileAt = async (path: string) => (await me.call(path)).text()
    const file = await fileAt(link)
    expect(file.trim().split('\n').length).toBe(2)
    expect(file).toContain('2026-11-21T20:00')
    expect((await fileAt(`/dashboard/runs.csv?${dates}`)).trim().split('\n').length).toBe(1)
    const json = await me.call(`/api/portal/runs?${dates}`)
    expect(((await json.json()) as { data: object[] }).data).toEqual([])
    for (const path of ['/dashboard/receipts', '/dashboard/statement?by=movement']) {
      expect(await (await me.call(path, page)).text()).toMatch(/Times in Asia\/Kat/)
    }
    expect(await (await me.call('/dashboard', page)).text()).toMatch(/days in Asia\/Kat/)
  })

  test('is that of exact times too, on the page and in what a live page receives', async () => {
    const me = browser(w)
    const signer = privateKeyToAccount(generatePrivateKey())
    await signInWith(me, signer)
    const { secret } = await w.key({ account: signer.address.toLowerCase(), balance: usd })
    const json = { model: 'counterfoil/echo-1', input: 'hi' }
    const { id } = (await (await w.call('/v1/runs', { key: secret, json })).json()) as {
      id: string
    }
    const zone = { time_zone: 'Pacific/Kiritimati' }
    await me.call('/api/portal/zone', { method: 'POST', json: zone })
    const exact = /<time [^>]*data-exact[^>]*>[^<]*/g
    const local = /title="Nov 21, 2026, 20:\d\d:\d\d UTC">Nov 22, 2026, 10:\d\d:\d\d GMT\+14$/
    const isLocal = (html: string) => {
      const drawn = html.match(exact) ?? []
      return drawn.length > 0 && drawn.every((one) => local.test(one))
    }
    for (const path of [`/dashboard/runs/${id}`, '/dashboard/statement?by=movement']) {
      expect([path, isLocal(await (await me.call(path, page)).text())]).toEqual([path, true])
    }
    for (const path of [`/api/portal/runs/${id}/live`, '/api/portal/overview/live']) {
      const stream = await me.call(path, { headers: { accept: 'text/event-stream' } })
      const reader = stream.body?.getReader()
      const decoder = new TextDecoder()
      let html = ''
      while (reader && !html.includes('</time>'))
        html += decoder.decode((await reader.read()).value)
      await reader?.cancel()
      expect(html).toContain('GMT+14')
      if (path.includes(id)) expect(isLocal(html)).toBe(true)
    }
  })

  test('leaves the bars of a cap and programs as they are: windows of UTC, lists of 20', async () => {
    const me = browser(w)
    const signer = privateKeyToAccount(generatePrivateKey())
    await signInWith(me, signer)
    const account = signer.address.toLowerCase()
    await w.key({ account, balance: usd })
    const cap = { limit_nusd: 500_000_000, window: 'day' }
    const wish = { name: 'k', cap }
    const made = await me.call('/api/portal/keys', { method: 'POST', json: wish })
    const { id: key, secret } = (await made.json()) as { id: string; secret: string }
    const json = { model: 'counterfoil/echo-1', input: 'hi' }
    const { id } = (await (await w.call('/v1/runs', { key: secret, json })).json()) as {
      id: string
    }
    const zone = { time_zone: 'Pacific/Kiritimati' }
    await me.call('/api/portal/zone', { method: 'POST', json: zone })
    const html = await (await me.call(`/dashboard/keys/${key}`, page)).text()
    const bar = html.match(/\/dashboard\/runs\?key=[^"]*T00[^"]*/g)?.at(-1) ?? ''
    expect(await (await me.call(bar.replaceAll('&amp;', '&'), page)).text()).toContain(id)
    const list = spyOn(w.deps.deposits, 'list')
    await me.call('/api/portal/deposits')
    expect(list.mock.calls.map(([, asked]) => asked.limit)).toEqual([20])
    list.mockRestore()
  })

  test('keeps what a time says of itself', () => {
    const at = Date.UTC(2026, 10, 21, 20)
    const minute = String(When({ at, now: at + 600_000, isMinute: true }))
    expect(timesIn('Pacific/Kiritimati', minute)).toMatch(/ data-minute title=[^>]*>10 min ago</)
    const exact = timesIn('Pacific/Kiritimati', String(ExactTime({ at })))
    const day = timesIn('Pacific/Kiritimati', String(DayOf({ at })))
    expect(day).toMatch(/ data-date title=[^>]*>Nov 22, 2026</)
    expect(exact).toMatch(/ data-exact title="[^"]*UTC">Nov 22, 2026, 10:00:00 GMT\+14</)
  })

  test('is of the wallet alone', async () => {
    const other = browser(w)
    await signInWith(other, privateKeyToAccount(generatePrivateKey()))
    expect(await usage(other)).toContain('Days in UTC')
  })

  test.each(['Mars/Olympus', '+05:30', ''])('400 for %j', async (zone) => {
    const answer = await own.call('/api/portal/zone', {
      method: 'POST',
      json: { time_zone: zone },
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param: 'time_zone' } })
  })
})
