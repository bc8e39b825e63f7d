import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { adminWorld, other } from '../admin/admin.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { usd, type World } from '../support/world.ts'
import { fewLooks, inspectPage, lookName } from './support.ts'

describe.skipIf(noChromium)("the operator's pages", () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    const admins = await adminWorld({ toml: pricedBuiltins })
    w = admins.w
    cookies = [...admins.own.jar].map(([name, value]) => ({ name, value }))
    browser = await startChromium()
    await w.key({ account: other, balance: 7n * usd })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  describe.each([true, false])('with scripts: %p', (javaScriptEnabled) => {
    test('an account is found, granted credit, suspended and resumed', async () => {
      const context = await browser.newContext({ javaScriptEnabled })
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      const button = (name: string) => page.getByRole('button', { name })
      await page.goto(`${w.origin}/dashboard/sessions`)
      await page.getByRole('link', { name: 'Administration' }).click()
      await page.getByRole('link', { name: 'Accounts' }).click()
      await page.getByRole('searchbox').fill(other.slice(0, 8))
      await button('Find').click()
      await page.getByRole('row').getByRole('link').click()

      const before = (await w.deps.accounts.find(other))?.balance ?? 0n
      await page.getByLabel('Amount in USD').fill('2.50')
      await page.getByLabel('Reason').fill('for the outage')
      await button('Review').click()
      await button('Grant $2.50').click()
      await page.getByText('Held by runs').waitFor()
      expect((await w.deps.accounts.find(other))?.balance).toBe(before + (5n * usd) / 2n)

      for (const [verb, status] of [
        ['Suspend', 'suspended'],
        ['Resume', 'active'],
      ] as const) {
        await page.getByRole('link', { name: `${verb} this account` }).click()
        await page.getByRole('heading', { name: `${verb} this account?` }).waitFor()
        await page.getByLabel('Reason').fill('a look at it')
        await button(`${verb} this account`).click()
        await page.getByText('Held by runs').waitFor()
        expect((await w.deps.accounts.find(other))?.status).toBe(status)
      }

      await page.getByRole('link', { name: 'Ledger' }).click()
      await button('Audit now').click()
      await page.getByText('The ledger balances.').waitFor()
      await page.getByRole('link', { name: 'Audit log' }).click()
      await page
        .getByRole('row', { name: /account\.suspend.*a look at it/ })
        .first()
        .waitFor()
      await context.close()
    }, 60_000)
  })

  const pages: [name: string, path: string][] = [
    ['the status', '/dashboard/admin'],
    ['an account', `/dashboard/admin/accounts/${other}`],
    ['the audit log', '/dashboard/admin/audit-log'],
  ]
  describe.each(pages)('nothing is wrong with %s', (name, path) => {
    test.each(fewLooks.map((look) => [lookName(look), look] as const))(
      '%s',
      async (_, look) => {
        const folder = process.env['SHOTS']
        const file = `${name}-${lookName(look)}`.replaceAll(/\W+/g, '-')
        const shot = folder === undefined ? {} : { shot: `${folder}/${file}.png` }
        const visit = { ...look, cookies, ...shot }
        expect(await inspectPage(browser, w.origin + path, visit)).toEqual([])
      },
      30_000,
    )
  })
})
