import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { type SharingWorld, sharingWorld } from '../support/sharing.ts'
import { type World, world } from '../support/world.ts'
import { inspectPage, lookName, looks } from './support.ts'

describe.skipIf(noChromium)('the landing page in Chromium', () => {
  let s: SharingWorld
  let empty: World
  let browser: Browser
  let id = ''
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    empty = await world()
    id = await s.ask('shown to everybody')
    await s.share(id, { visibility: 'public' })
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await s?.w.stop()
    await empty?.stop()
  })

  describe.each([true, false])('script %p', (javaScriptEnabled) => {
    test('a stranger asks the terminal, opens the receipt and sees it verified', async () => {
      const context = await browser.newContext({ javaScriptEnabled })
      const page = await context.newPage()
      await page.goto(s.w.origin)
      await page.getByRole('textbox', { name: 'Command' }).fill('Who signs what I get here?')
      await page.getByRole('button', { name: 'Run' }).click()
      const receipt = page.getByRole('link', { name: 'Open the receipt' })
      await receipt.waitFor()
      const stub = page.getByRole('list', { name: 'Receipts of this visit' }).getByRole('link')
      if (javaScriptEnabled) await stub.waitFor()
      else expect(await stub.count()).toBe(0)
      await receipt.click()
      await page.waitForURL(/\/receipts\/rcpt_/)
      const which = javaScriptEnabled ? 'Checked in your browser.' : 'Checked by the server.'
      await page.getByText(which).waitFor()
      if (javaScriptEnabled) await page.locator('#stamp', { hasText: 'Verified' }).waitFor()
      const stamped = await page.locator('#stamp').textContent()
      expect(stamped).toContain(javaScriptEnabled ? 'Verified' : 'Checked by the server')
      expect(await page.locator('#checks .bad').count()).toBe(0)
      expect(await page.getByText('counterfoil/echo-1').first().isVisible()).toBe(true)
      await context.close()
    }, 60_000)

    test('the newest public receipt is stamped by the browser alone, and leads to its own page', async () => {
      const context = await browser.newContext({ javaScriptEnabled })
      const page = await context.newPage()
      await page.goto(s.w.origin)
      const end = page.locator('#story-stamp')
      await end.scrollIntoViewIfNeeded()
      if (javaScriptEnabled) await end.getByText('Verified').waitFor()
      else expect(await end.textContent()).toContain('Checked by the server')
      await page.getByRole('link', { name: 'Check it in your own browser' }).click()
      await page.waitForURL(/\/receipts\/rcpt_/)
      expect(await page.locator('.slip h1').textContent()).toMatch(/^rcpt_\w{26}$/)
      await context.close()
    }, 60_000)
  })

  test('the slip of an answer comes out of the slot, and is stamped by the browser', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(s.w.origin)
    const name = page.locator('.newest h2')
    const before = await name.textContent()
    await page.getByRole('textbox', { name: 'Command' }).fill('Who signs what I get here?')
    await page.getByRole('button', { name: 'Run' }).click()
    const link = page.getByRole('link', { name: 'Open the receipt' })
    const printed = ((await link.getAttribute('href')) ?? '').replace('/receipts/', '')
    await name.filter({ hasText: printed }).waitFor()
    expect(printed).not.toBe(before ?? '')
    await page.locator('.newest #stamp', { hasText: 'Verified' }).waitFor()
    expect(await page.locator('h1').count()).toBe(1)
    // The story is still of the receipt that was there before.
    await page.locator('.ending').scrollIntoViewIfNeeded()
    await page.locator('#story-stamp').getByText('Verified').waitFor()
    await context.close()
  }, 60_000)

  test('signed in, it leads to the dashboard', async () => {
    const own = caller(s.w)
    await signInWith(own)
    const context = await browser.newContext()
    const url = s.w.origin
    await context.addCookies([...own.jar].map(([name, value]) => ({ name, value, url })))
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('link', { name: 'Dashboard' }).first().click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await context.close()
  }, 60_000)

  describe.each([
    ['with a public receipt', () => s.w.origin],
    ['before the first one', () => empty.origin],
  ])('nothing is wrong with it %s', (state, origin) => {
    test.each(looks.map((look) => [lookName(look), look] as const))(
      '%s',
      async (name, look) => {
        const folder = process.env['SHOTS']
        const file = `landing ${state} ${name}`.replaceAll(/\W+/g, '-')
        const shot = folder === undefined ? {} : { shot: `${folder}/${file}.png` }
        expect(await inspectPage(browser, `${origin()}/`, { ...look, ...shot })).toEqual([])
      },
      60_000,
    )
  })
})
