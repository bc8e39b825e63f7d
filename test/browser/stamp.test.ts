import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { type SharingWorld, sharingWorld } from '../support/sharing.ts'

/** Runs in the page before its scripts: notes the largest width in any frame. */
function watchTheWidth(): void {
  const widest = { px: 0 }
  Object.assign(window, { widest })
  const look = () => {
    widest.px = Math.max(widest.px, document.documentElement.scrollWidth)
    requestAnimationFrame(look)
  }
  document.addEventListener('DOMContentLoaded', look)
}

/** Runs in the page before its scripts: writes down each tick and each stamp. */
function watchTheStamp(): void {
  const seen: string[] = []
  Object.assign(window, { seen })
  const look = () => {
    const ticked = document.querySelectorAll('#checks .here').length
    const stamps = document.querySelectorAll('.stampmark').length
    const now = `${ticked} ticked, ${stamps} stamped`
    if (seen.at(-1) !== now) seen.push(now)
  }
  document.addEventListener('DOMContentLoaded', () => {
    look()
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true })
  })
}

describe.skipIf(noChromium)('the stamp is earned', () => {
  let s: SharingWorld
  let browser: Browser
  let context: BrowserContext | undefined
  let cookies: { name: string; value: string; url: string }[] = []
  let id = ''
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    const own = caller(s.w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value, url: s.w.origin }))
    id = await s.ask('stamped')
    await s.share(id, { visibility: 'public' })
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

  type How = { script?: boolean; still?: boolean; signedIn?: boolean }
  const open = async ({ script = true, still = false, signedIn = false }: How = {}) => {
    const reducedMotion = still ? 'reduce' : 'no-preference'
    context = await browser.newContext({ javaScriptEnabled: script, reducedMotion })
    if (signedIn) await context.addCookies(cookies)
    if (script) await context.addInitScript(watchTheStamp)
    return context.newPage()
  }
  const seenOn = (page: Page) => page.evaluate<string[]>('window.seen')

  promise`C17 C: Only the browser that checked a receipt stamps it; the server never says Verified.`
  test('no page of the server says Verified', async () => {
    const page = await open({ script: false, signedIn: true })
    const paths = ['/', '/explorer', '/verify', `/receipts/${id}`, '/dashboard', '/passports']
    const own = ['/dashboard/receipts', `/dashboard/receipts/${id}`, '/dashboard/runs', '/terminal']
    for (const path of [...paths, ...own]) {
      const html = await (await page.goto(s.w.origin + path))?.text()
      expect([path, html?.includes('Verified'), html?.includes('stampmark')]).toEqual([
        path,
        false,
        false,
      ])
    }
  }, 60_000)

  promise`C17`
  test('with script the checks tick one by one, and then the stamp lands once', async () => {
    const page = await open()
    await page.goto(`${s.w.origin}/receipts/${id}`)
    await page.getByText('Checked in your browser.').waitFor()
    const count = await page.locator('#checks li').count()
    expect(count).toBeGreaterThan(2)
    const ticks = Array.from({ length: count + 1 }, (_, i) => `${i} ticked, 0 stamped`)
    expect(await seenOn(page)).toEqual([...ticks, `${count} ticked, 1 stamped`])
    expect(await page.locator('#stamp').textContent()).toContain('Verified')
  }, 60_000)

  test('before the browser has checked, nothing is ticked', async () => {
    const page = await open()
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/assets/verify-*.js', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(`${s.w.origin}/receipts/${id}`, { waitUntil: 'domcontentloaded' })
    const icon = page.locator('#checks li .ico').first()
    expect(await icon.evaluate((one) => getComputedStyle(one).color)).toBe('rgba(0, 0, 0, 0)')
    expect(await page.locator('.stampmark').count()).toBe(0)
    letGo()
    await page.locator('.stampmark').waitFor()
  }, 60_000)

  test('a reader who wants no motion gets the stamp without any', async () => {
    const page = await open({ still: true })
    await page.goto(`${s.w.origin}/receipts/${id}`)
    await page.locator('.stampmark').waitFor()
    expect(await page.evaluate('document.getAnimations().length')).toBe(0)
  }, 60_000)

  test('without script it says in plain type who checked', async () => {
    const page = await open({ script: false })
    for (const path of ['/', `/receipts/${id}`]) {
      await page.goto(s.w.origin + path)
      const word = page.locator('#stamp .serverword')
      expect(await word.textContent()).toStartWith('Checked by the server')
      expect([path, await word.isVisible()]).toEqual([path, true])
      expect(await page.locator('.stampmark').count()).toBe(0)
    }
  }, 60_000)

  test('the slip of the landing page is stamped by the browser too, and only if it holds', async () => {
    const page = await open()
    await page.goto(s.w.origin)
    await page.locator('.newest .stampmark').waitFor()
    expect(await page.locator('#stamp').textContent()).toContain('Verified')
    await page.route(`${s.w.origin}/`, async (route) => {
      const answer = await route.fetch()
      const html = (await answer.text()).replace('<dd>counterfoil/echo-1</dd>', '<dd>other</dd>')
      await route.fulfill({ response: answer, body: html })
    })
    await page.reload()
    await page.locator('.newest .stampmark').waitFor()
    expect(await page.locator('#stamp').textContent()).toContain('Not valid')
  }, 60_000)

  test.each([320, 390])(
    'the stamp lands within a page of %d px',
    async (width) => {
      const page = await open()
      await page.addInitScript(watchTheWidth)
      await page.setViewportSize({ width, height: 800 })
      for (const path of ['/', `/receipts/${id}`]) {
        await page.goto(s.w.origin + path)
        // It is checked once it is seen.
        await page.locator('.slip').first().scrollIntoViewIfNeeded()
        await page.locator('.stampmark').first().waitFor()
        await page.evaluate(() =>
          Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {}))),
        )
        expect([path, await page.evaluate('window.widest.px')]).toEqual([path, width])
      }
    },
    60_000,
  )

  promise`C17`
  test('a receipt whose stored signature was changed is never stamped, even if the server finds it in order', async () => {
    const fine = await (await s.w.call(`/receipts/${id}`)).text()
    const { receiptSignatures } = s.w.db.tables
    const flipped = (bytes: Uint8Array) => bytes.map((byte, i) => (i % 65 === 9 ? byte ^ 1 : byte))
    await s.w.db.write(function* (q) {
      for (const row of yield* rows(q.select().from(receiptSignatures))) {
        const changed = { ...row, signature: flipped(row.signature) }
        yield* rows(q.delete(receiptSignatures).returning())
        yield* rows(q.insert(receiptSignatures).values(changed).returning())
      }
    })
    const carried = /data-payload="[^"]*"/
    const changed = carried.exec(await (await s.w.call(`/receipts/${id}`)).text())?.[0] ?? ''
    const page = await open()
    // The server of before the change: it finds all checks in order.
    const lie = fine.replace(carried, () => changed)
    expect(lie).not.toBe(fine)
    await page.route(`**/receipts/${id}`, async (route) => {
      await route.fulfill({ response: await route.fetch(), body: lie })
    })
    await page.goto(`${s.w.origin}/receipts/${id}`)
    await page.locator('.stampmark').waitFor()
    expect(await page.locator('#stamp').textContent()).toContain('Not valid')
    expect(await page.locator('#standing').textContent()).toBe('Not valid')
    expect(await page.locator('body').textContent()).not.toContain('Verified')
    expect((await seenOn(page)).filter((one) => one.endsWith('1 stamped')).length).toBe(1)
  }, 60_000)
})
