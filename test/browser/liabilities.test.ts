import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { publish } from '../proof/liabilities/publishing.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { usd, type World, world } from '../support/world.ts'
import { inspectPage, lookName, looks } from './support.ts'

const path = '/dashboard/liabilities'
const shots = process.env['SHOTS']

describe.skipIf(noChromium)('the page of the liabilities, in a real browser', () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    w = await world()
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    await w.key({ balance: 3n * usd })
    await publish(w)
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  test.each(looks.map((look) => [lookName(look), look] as const))(
    'is sound: %s',
    async (_, look) => {
      const act = async (page: Page) => {
        if (look.script) await page.getByText('Checked in your browser.').waitFor()
        expect(await page.locator('#checks li.ok').count()).toBe(8)
      }
      const shot = shots ? { shot: `${shots}/liabilities-${lookName(look)}.png` } : {}
      expect(
        await inspectPage(browser, w.origin + path, { ...look, cookies, act, ...shot }),
      ).toEqual([])
    },
  )

  test('does not take the word of a server that counts another balance', async () => {
    const context = await browser.newContext()
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
    const page = await context.newPage()
    await page.route(w.origin + path, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.text()).replace(
        /balance_nusd(&quot;|&#34;|\\?")\s*:\s*\1[0-9]+/,
        (found) => `${found}0`,
      )
      await route.fulfill({ response: answer, body })
    })
    await page.goto(w.origin + path)
    await page.getByText('Your balance is not part of the total').waitFor()
    await context.close()
  })
})
