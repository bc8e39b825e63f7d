import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
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
    const from = '2026-11-20T18%3A15%3A00.000Z&amp;to=2026-11-21T18%3A15%3A00.000Z'
    expect(html).toContain(`/dashboard/runs?from=${from}`)
    expect(html).toMatch(/Nov 21, 2026<\/a><\/span><\/td><td [^>]*>1<\/td>/)
    expect(html).toMatch(/Nov 22, 2026<\/a><\/span><\/td><td [^>]*>1<\/td>/)
    expect(await (await own.call('/dashboard/settings', page)).text()).toContain(
      `<option value="${named}" selected>`,
    )
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
