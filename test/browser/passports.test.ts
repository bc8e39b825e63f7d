import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { arrive, ask, countAll } from '../proof/passports/office.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { testAccount, type World, world } from '../support/world.ts'
import { inspectPage, lookName, looks } from './support.ts'

const bio = 'Reads tide tables for harbours that have none, and says how sure it is of each.'

describe.skipIf(noChromium)('the pages of passports', () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    w = await world({ toml: pricedBuiltins })
    browser = await startChromium()
    const others = await arrive(w)
    await others.publish('mosslight', { kind: 'person', bio: 'A person.' })
    await others.publish('northwind', { kind: 'service', display_name: 'x'.repeat(64) })
    const one = await arrive(w)
    await one.publish('harbor-lab', {
      display_name: 'Harbor Lab',
      bio,
      links: ['https://example.com/', `https://example.com/${'long/'.repeat(30)}`],
    })
    const { secret } = await one.bound('harbor-lab')
    for (let i = 0; i < 5; i++) {
      const id = await ask(w, secret, `a question of ${i} words`)
      const json = { visibility: 'public' }
      if (i < 3) await w.call(`/v1/receipts/${id}/share`, { key: secret, json })
    }
    await countAll(w)
    await one.post('/harbor-lab/statement')
    await one.publish('sandbank')
    await one.post('/sandbank/retire')
    await one.post('', { handle: 'fresh-draft', display_name: 'Fresh Draft', kind: 'agent' })
    cookies = [...one.own.jar].map(([name, value]) => ({ name, value }))
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  describe.each([true, false])('with scripts: %p', (javaScriptEnabled) => {
    test('one is made, refused once, bound, published, seen by everybody, and retired', async () => {
      const own = caller(w)
      await signInWith(own)
      const { key, secret } = await w.key({ account: testAccount, balance: 1_000_000_000n })
      const context = await browser.newContext({ javaScriptEnabled })
      const jar = [...own.jar].map(([name, value]) => ({ name, value, url: w.origin }))
      await context.addCookies(jar)
      const page = await context.newPage()
      const button = (name: string | RegExp) => page.getByRole('button', { name })
      const handle = javaScriptEnabled ? 'tide-pool' : 'rock-pool'

      await page.goto(`${w.origin}/dashboard/passports`)
      await page.getByLabel('Handle').fill('harb0r-lab')
      await page.getByLabel('Name', { exact: true }).fill('Pool')
      await page.getByLabel('Bio').fill('Says what it sees.')
      await button('Create passport').click()
      await page.getByText('looks like one that is taken').waitFor()
      expect(await page.getByLabel('Bio').inputValue()).toBe('Says what it sees.')
      await page.getByLabel('Handle').fill(handle)
      await button('Create passport').click()
      await page.getByRole('heading', { level: 1, name: 'Pool' }).waitFor()

      await page.getByLabel('Bind a key').selectOption(key.id)
      await button('Bind the key').click()
      await button(/^Unbind/).waitFor()
      await page.getByLabel('Links').fill('https://example.com/pool')
      await button('Save changes').click()
      await button('Publish').click()
      await page.getByText(`@${handle} is public.`).waitFor()
      await ask(w, secret)
      await countAll(w)

      await page.getByRole('link', { name: 'Open its page' }).click()
      await page.getByRole('heading', { level: 1, name: 'Pool' }).waitFor()
      await page.getByText('run with a receipt').waitFor()
      const link = page.getByRole('link', { name: 'example.com/pool' })
      expect(await link.getAttribute('rel')).toBe('nofollow noopener ugc')

      await page.goto(`${w.origin}/dashboard/passports/${handle}`)
      await page.getByRole('link', { name: 'Retire…' }).click()
      await page.getByText('1 key is unbound.').waitFor()
      await button(`Retire @${handle}`).click()
      await page.getByText(`@${handle} is retired.`).waitFor()
      const gone = await page.goto(`${w.origin}/passports/${handle}`)
      expect(gone?.status()).toBe(410)
      await context.close()
    }, 60_000)
  })

  describe('nothing is wrong with', () => {
    const pages: [name: string, path: string][] = [
      ['all passports', '/passports'],
      ['those of one kind', '/passports?kind=person&sort=runs'],
      ['a passport', '/passports/harbor-lab'],
      ['a passport without a record', '/passports/northwind'],
      ['a retired passport', '/passports/sandbank'],
      ['ones own passports', '/dashboard/passports'],
      ['ones own passport', '/dashboard/passports/harbor-lab'],
      ['ones own draft', '/dashboard/passports/fresh-draft'],
      ['ones own retired passport', '/dashboard/passports/sandbank'],
      ['the end of a passport', '/dashboard/passports/harbor-lab/retire'],
    ]
    describe.each(pages)('%s', (name, path) => {
      test.each(looks.map((look) => [lookName(look), look] as const))(
        '%s',
        async (_, look) => {
          const folder = process.env['SHOTS']
          const file = `${name.replaceAll(' ', '-')}-${lookName(look).replaceAll(/\W+/g, '-')}.png`
          const shot = folder === undefined ? {} : { shot: `${folder}/${file}` }
          const found = await inspectPage(browser, w.origin + path, { ...look, cookies, ...shot })
          // The browser itself notes that a page is not there.
          expect(found.filter((line) => !/status of 410/.test(line))).toEqual([])
        },
        30_000,
      )
    })
  })
})
