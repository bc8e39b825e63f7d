import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { type SmallDemo, smallDemo } from '../app/demo/demo.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { inspectPage } from './support.ts'

describe.skipIf(noChromium)('the banner of a demonstration, in a real browser', () => {
  let demo: SmallDemo
  let browser: Browser
  beforeAll(async () => {
    demo = await smallDemo()
    browser = await startChromium()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await demo?.end()
  })

  /** The axe rules of a look include contrast, and its budget the weight of the page. */
  const banner = async (page: Page) => {
    const bar = page.getByRole('complementary', { name: 'Demo' })
    expect(await bar.textContent()).toContain('no real money')
  }

  test.each([
    ['/', 'light', 1280],
    ['/signin', 'dark', 320],
  ] as const)(
    'is accessible, in the budget and not too wide on %s: %s, %i px',
    async (path, theme, width) => {
      const look = { theme, width, script: true, act: banner }
      expect(await inspectPage(browser, demo.url + path, look)).toEqual([])
    },
    60_000,
  )
})
