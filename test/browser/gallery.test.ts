import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { noChromium, startChromium } from '../support/chromium.ts'
import { gallery, serveGallery } from './gallery/serve.ts'
import { inspectPage, lookName, looks } from './support.ts'

describe.skipIf(noChromium)('every part, in every look, is sound', () => {
  const { origin, stop } = serveGallery()
  let browser: Browser

  beforeAll(async () => {
    browser = await startChromium()
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    await stop()
  })

  const visits = Object.keys(gallery).flatMap((path) =>
    looks.map((look) => [`${path} ${lookName(look)}`, path, look] as const),
  )

  test.each(visits)(
    '%s',
    async (_, path, look) => {
      expect(await inspectPage(browser, origin + path, look)).toEqual([])
    },
    60_000,
  )

  test('the colours are chosen without script and hold on the next page', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, colorScheme: 'light' })
    const page = await context.newPage()
    await page.goto(`${origin}/explorer?q=a`)
    await page.getByRole('button', { name: 'Dark' }).click()
    await page.locator('html[data-theme="dark"]').waitFor()
    expect(page.url()).toBe(`${origin}/explorer?q=a`)
    await page.goto(`${origin}/overview`)
    // On a signed-in page they stand behind the state of the service.
    const foot = page.locator('summary', { has: page.locator('.dot') })
    await foot.click()
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).toBe(
      'true',
    )
    await page.getByRole('button', { name: 'System' }).click()
    await page.locator('html[data-theme="system"]').waitFor()
    await foot.click()
    await page.getByRole('button', { name: 'System', pressed: true }).waitFor()
    expect(await context.cookies()).toEqual([])
    await context.close()
  }, 60_000)

  test('on a phone the rest of the menu opens without script', async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 390, height: 844 },
    })
    const page = await context.newPage()
    await page.goto(`${origin}/overview`)
    const sessions = page.getByRole('link', { name: 'Sessions' })
    expect(await sessions.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'More' }).click()
    await sessions.waitFor()
    await context.close()
  }, 60_000)

  test('a copy button copies what it stands beside and says so', async () => {
    const context = await browser.newContext()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
    const page = await context.newPage()
    await page.goto(`${origin}/keys`)
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect<string | null>(copied).toBe(await page.getByLabel('Secret key').textContent())
    await context.close()
  }, 60_000)
})
