import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { soldPlansToml } from '../support/plans.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { inspectPage, lookName, looks } from './support.ts'

const team = '[[plans]]\nid = "team"\nname = "Team"\nprice_nusd = 250_000_000_000\n'

describe.skipIf(noChromium)('the pages of the plan and the statement', () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    w = await world({ toml: pricedBuiltins + soldPlansToml + team })
    browser = await startChromium()
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    const { secret } = await w.key({ balance: 321n * usd })
    const json = {
      model: 'counterfoil/echo-1',
      messages: [{ role: 'user', content: 'as many words as it takes to cost something' }],
    }
    for (let i = 0; i < 3; i++) {
      await (await w.call('/v1/chat/completions', { key: secret, json })).json()
    }
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  describe.each([true, false])('with scripts: %p', (javaScriptEnabled) => {
    test('a plan is looked at, paid, cancelled and kept; the statement says what it cost', async () => {
      const context = await browser.newContext({ javaScriptEnabled })
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      const button = (name: string | RegExp) => page.getByRole('button', { name })
      await page.goto(`${w.origin}/dashboard/plan`)
      const [from, to] = javaScriptEnabled ? ['Free', 'Builder'] : ['Builder', 'Scale']
      await button(`See what ${to} changes`).click()
      await page.getByRole('heading', { name: `${from} → ${to}` }).waitFor()
      await page.getByText('You pay now').waitFor()
      const before = (await w.deps.accounts.find(testAccount))?.balance ?? 0n
      await button(/^Pay \$[\d.]+ and start/).click()
      await page.getByText(`${to} is paid until`).waitFor()
      const after = (await w.deps.accounts.find(testAccount))?.balance ?? 0n
      expect(after).toBeLessThan(before)

      await page.getByRole('link', { name: `Cancel ${to}` }).click()
      await page.getByRole('heading', { name: `Cancel ${to}?` }).waitFor()
      await button(new RegExp(`^Cancel ${to} on`)).click()
      await page.getByText(`${to} ends on`).waitFor()
      await button(`Keep ${to}`).click()
      await page.getByText(`${to} is paid until`).waitFor()

      await page.getByRole('main').getByRole('link', { name: 'Statement' }).last().click()
      await page.getByRole('link', { name: 'Every movement' }).click()
      await page.getByRole('row', { name: /^Plan/ }).first().waitFor()
      const runs = page.getByRole('row', { name: /^Run / })
      await runs.nth(2).waitFor()
      expect(await runs.count()).toBe(3)
      await context.close()
    }, 60_000)
  })

  describe('nothing is wrong with', () => {
    const pages: [name: string, path: string][] = [
      ['the plans', '/dashboard/plan'],
      ['what a change costs', '/dashboard/plan?to=team'],
      ['a change for later', '/dashboard/plan?to=builder'],
      ['a plan that is kept', '/dashboard/plan?to=scale'],
      ['the end of a plan', '/dashboard/plan?cancel=1'],
      ['the statement by day', '/dashboard/statement'],
      ['every movement', '/dashboard/statement?by=movement'],
    ]
    describe.each(pages)('%s', (name, path) => {
      test.each(looks.map((look) => [lookName(look), look] as const))(
        '%s',
        async (_, look) => {
          const folder = process.env['SHOTS']
          const file = `${name.replaceAll(' ', '-')}-${lookName(look).replaceAll(/\W+/g, '-')}.png`
          const shot = folder === undefined ? {} : { shot: `${folder}/${file}` }
          expect(
            await inspectPage(browser, w.origin + path, { ...look, cookies, ...shot }),
          ).toEqual([])
        },
        30_000,
      )
    })
  })
})
