import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cursorFact, markName } from '../../../src/billing/usage/store/usage-counter.ts'
import { readMax } from '../../../src/billing/usage/sum.ts'
import { writeFact } from '../../../src/storage/db/sql/facts.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { payloads } from '../../web/ui/payloads.ts'
import { addReceipts, countAll } from './receipts.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 21, 12)

describe('what is hard to show in GET /dashboard/usage', () => {
  let w: World
  let own: Browser
  let root: { id: string }
  beforeAll(async () => {
    w = await world({ now })
    own = browser(w)
    await signInWith(own)
    root = (await w.key({ balance: 10n * usd, name: 'root' })).key
  }, 30_000)
  afterAll(() => w.stop())

  const get = async (query: string) => {
    const answer = await own.call(`/dashboard/usage${query}`, { headers: { accept: 'text/html' } })
    return { status: answer.status, html: await answer.text() }
  }

  promise`C1`
  test('payloads in names of keys, models and tags are text', async () => {
    // A name of a key holds no control character and 64 at most; models and tags hold anything.
    const nameable = payloads.filter((one) => !/\p{Cc}/u.test(one) && one.length <= 64).slice(0, 45)
    expect(nameable.length).toBeGreaterThan(30)
    const keys = await Promise.all(
      nameable.map((name) => w.key({ parentId: root.id, name }).then(({ key }) => key.id)),
    )
    const storable = payloads.filter((one) => !one.includes('\0'))
    await addReceipts(
      w,
      storable.map((payload, i) => ({
        accountId: testAccount,
        keyId: keys[i % keys.length] ?? root.id,
        model: payload,
        tags: { [payload]: payload },
        finishedAt: now - day,
      })),
    )
    const shown = { key: nameable.slice(0, storable.length), model: storable, tag: storable }
    for (const [by, texts] of Object.entries(shown)) {
      const { status, html } = await get(`?group_by=${by}`)
      expect(status).toBe(200)
      for (const text of texts) expect(html).toContain(Bun.escapeHTML(text))
      expect(doersIn(html)).toEqual([])
    }
  })

  test('more rows than a page holds come in pages, and the totals are of all of them', async () => {
    const mine = { accountId: testAccount, keyId: root.id, finishedAt: now - 100 * day }
    await addReceipts(
      w,
      Array.from({ length: 205 }, (_, i) => ({ ...mine, model: `acme/${String(i)}` })),
    )
    const range = '?from=2026-08-01&to=2026-08-31&group_by=model'
    const [first, last, beyond] = [
      await get(range),
      await get(`${range}&page=3`),
      await get(`${range}&page=9`),
    ]
    expect(first.html).toContain('1–100 of 205')
    expect(first.html).toContain('page=2" rel="next"')
    expect(last.html).toContain('201–205 of 205')
    expect(last.html).toContain(
      '<th scope="row">Total</th><td class="num" data-at="more" data-label="Runs">205</td>',
    )
    expect(last.html).not.toContain('rel="next"')
    expect(beyond.html).toContain('201–205 of 205')
  })

  test('400 in place of the tags where they are too many; the days are told all the same', async () => {
    await countAll(w)
    // As if the log were that long: no test has the time to make it so.
    await w.db.write(function* () {
      yield* writeFact(w.db, markName(now - day - (now % day)), `0 ${readMax + 1}`)
      yield* writeFact(w.db, cursorFact, String(readMax + 1))
    })
    const { status, html } = await get('?group_by=tag')
    expect(status).toBe(400)
    expect(html).toContain('This range holds too many receipts to go through one by one.')
    expect(html).toContain('Group by day</a>')
    expect(html).toContain('Spend per day, Oct 23 to Nov 21. Highest')
    expect(html).toContain('/api/portal/usage/export?format=csv')
    expect((await get('?group_by=key')).status).toBe(200)
  })
})

/** Elements that a parser finds which could do something, and attributes that could. */
function doersIn(html: string): string[] {
  const found: string[] = []
  new HTMLRewriter()
    .on('script:not([src^="/assets/"]), img, animate, iframe, object, embed, style, base, math', {
      element: ({ tagName }) => void found.push(tagName),
    })
    .on('*', {
      element: ({ attributes }) => {
        for (const [name, value] of attributes) {
          if (/^on|^hx-on|^style$|^srcdoc$/.test(name)) found.push(name)
          if (/^\s*(javascript|data):/i.test(value)) found.push(value)
        }
      },
    })
    .transform(html)
  return found
}
