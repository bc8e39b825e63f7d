import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { areas } from '../../src/front/reference/areas.ts'
import { shortHash } from '../../src/web/ui/hash.tsx'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { isNightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { type World, world } from '../support/world.ts'
import { inspectPage, lookInTurn, lookName, looks } from './support.ts'

const shots = process.env['SHOTS']
const pages = [
  '/docs',
  '/docs/guides/first-run',
  '/docs/search?q=receipt',
  ...areas.map(({ id }) => `/docs/${id}`),
]

promise`C15`
describe.skipIf(noChromium)('the reference, in a real browser', () => {
  let service: World
  let browser: Browser
  beforeAll(async () => {
    service = await world()
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  // The pages of areas are made of the same parts: two of six are judged by axe, one in each look.
  const visits = pages.flatMap((path, i) =>
    (path === '/docs' || isNightly ? looks : [lookInTurn(i)]).map((look) => {
      const visit = { ...look, isAlike: path !== '/docs' && i % 6 > 1 }
      return [`${path}: ${lookName(look)}`, path, visit] as const
    }),
  )
  test.each(visits)(
    '%s',
    async (_, path, look) => {
      const name = `${path.slice(1).replace('/', '-')}-${look.theme}-${look.width}`
      const shot = shots && look.script ? { shot: `${shots}/${name}.png` } : {}
      expect(await inspectPage(browser, service.origin + path, { ...look, ...shot })).toEqual([])
    },
    60_000,
  )

  const open = async (path: string, width: number, script = true) => {
    const viewport = { width, height: 860 }
    const context = await browser.newContext({ viewport, javaScriptEnabled: script })
    const page = await context.newPage()
    await page.goto(service.origin + path)
    return { page, close: () => context.close() }
  }

  test('the index stays in view on a wide screen, and folds on a phone without script', async () => {
    const wide = await open('/docs/keys', 1280, false)
    const index = wide.page.getByRole('navigation', { name: 'Reference' })
    await wide.page.locator('#schemas').scrollIntoViewIfNeeded()
    expect(await wide.page.evaluate('window.scrollY')).toBeGreaterThan(1000)
    const box = await index.boundingBox()
    expect(box?.y).toBeGreaterThanOrEqual(0)
    expect(box?.y).toBeLessThan(300)
    await wide.close()

    const phone = await open('/docs/keys', 390, false)
    const folded = phone.page.getByRole('navigation', { name: 'Reference' })
    expect(await folded.isVisible()).toBe(false)
    await phone.page.getByText('Index', { exact: true }).click()
    await folded.getByRole('link', { name: 'Revoke a key' }).click()
    expect(phone.page.url()).toEndWith('/docs/keys#revokeKey')
    await phone.close()
  }, 60_000)

  test('guides come first, with the base URL of this service and the key of the reader', async () => {
    const { page, close } = await open('/docs', 1280, false)
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('Guides')
    await page.locator('#guides').getByRole('link', { name: 'The first run' }).click()
    await page.waitForURL('**/docs/guides/first-run')
    expect(await page.locator('#step-2').textContent()).toContain(service.deps.settings.baseUrl)
    await page.getByRole('link', { name: 'make one' }).waitFor()
    const own = caller(service)
    await signInWith(own)
    const { key } = await service.key({ name: 'mine' })
    const url = service.origin
    await page.context().addCookies([...own.jar].map(([name, value]) => ({ name, value, url })))
    await page.reload()
    await page.getByText(`mine is ${shortHash(key.fingerprint)}`).waitFor()
    await page.getByRole('link', { name: 'With the OpenAI clients' }).last().click()
    await page.waitForURL('**/docs/guides/clients')
    await close()
  }, 60_000)

  test('on a phone a command keeps its lines and scrolls in a box of its own', async () => {
    const { page, close } = await open('/docs', 390, false)
    const found = await page.evaluate<{ broken: string[]; wider: number; width: number }>(`(() => {
      const boxes = [...document.querySelectorAll('.docs .code')]
      const lines = (pre) => pre.textContent.replace(/\\n$/, '').split('\\n').length
      const shown = (pre) => pre.offsetHeight / parseFloat(getComputedStyle(pre).lineHeight)
      const listings = boxes.map((box) => box.querySelector('pre'))
      return {
        broken: listings.filter((pre) => shown(pre) > lines(pre) + 0.5).map((pre) => pre.textContent),
        wider: boxes.filter((box) => box.scrollWidth > box.clientWidth).length,
        width: document.documentElement.scrollWidth,
      }
    })()`)
    expect(found.broken).toEqual([])
    expect(found.wider).toBeGreaterThan(1)
    expect(found.width).toBeLessThanOrEqual(390)
    await close()
  }, 60_000)

  test('the search finds while one types, and keys alone lead to what it found', async () => {
    const { page, close } = await open('/docs', 1280)
    await page.getByRole('searchbox', { name: 'Search the reference' }).focus()
    await page.keyboard.type('revoke key')
    const hit = page.locator('#docs-found').getByRole('link', { name: 'Revoke a key', exact: true })
    await hit.waitFor()
    expect(new URL(page.url()).pathname).toBe('/docs')
    expect(await page.getByRole('navigation', { name: 'Reference' }).isVisible()).toBe(false)
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    for (let i = 0; i < 12 && (await focused()) !== 'Revoke a key'; i++) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/keys#revokeKey')
    await close()
  }, 60_000)

  promise`C20`
  test('the search without script is a page of its own, which can be linked', async () => {
    const { page, close } = await open('/docs', 390, false)
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('retention')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/search?q=retention')
    expect(await page.locator('#found li').count()).toBeGreaterThan(1)
    await page.locator('#found a').first().click()
    await page.waitForURL(/\/docs\/.+#/)
    await close()
  }, 60_000)
})
