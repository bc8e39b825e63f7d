import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext } from 'playwright-core'
import { browser as caller, signInWith } from '../accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { type SharingWorld, sharingWorld } from '../support/sharing.ts'

describe.skipIf(noChromium)('live means live', () => {
  let s: SharingWorld
  let browser: Browser
  let context: BrowserContext | undefined
  let cookies: { name: string; value: string; url: string }[] = []
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    const own = caller(s.w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value, url: s.w.origin }))
    await s.ask('first')
    browser = await startChromium()
  }, 60_000)
  afterEach(async () => {
    await context?.close()
    context = undefined
  })
  afterAll(async () => {
    await browser?.close()
    await s?.w.stop()
  })
  const open = async () => {
    context = await browser.newContext({ timezoneId: 'Asia/Tokyo' })
    await context.addCookies(cookies)
    return context.newPage()
  }

  test('relative times tick, and say UTC and the local time to who points at them', async () => {
    const page = await open()
    await page.clock.install()
    await page.goto(`${s.w.origin}/dashboard/receipts`)
    const time = page.locator('#receipts time').first()
    await page.clock.fastForward(2 * 60_000)
    expect(await time.textContent()).toMatch(/^[23] min ago$/)
    await time.hover()
    expect(await time.getAttribute('title')).toMatch(/UTC\n.+GMT\+9, local$/)
  }, 60_000)
})
