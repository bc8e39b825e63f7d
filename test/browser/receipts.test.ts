import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { bodyOf, type SharingWorld, sharingWorld } from '../support/sharing.ts'
import { inspectPage, lookName, looks } from './support.ts'

const payload = '</script><img src=x onerror="document.title=1"><svg/onload=alert(1)>"\'&quot;'

describe.skipIf(noChromium)('receipts in Chromium', () => {
  let s: SharingWorld
  let browser: Browser
  let context: BrowserContext | undefined
  let cookies: { name: string; value: string }[] = []
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    const own = caller(s.w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
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

  const open = async (script = true, signedIn = true): Promise<Page> => {
    context = await browser.newContext({ javaScriptEnabled: script })
    const url = s.w.origin
    if (signedIn) await context.addCookies(cookies.map((cookie) => ({ ...cookie, url })))
    return context.newPage()
  }
  const go = (page: Page, path: string) =>
    page.goto(s.w.origin + path, { waitUntil: 'networkidle' })
  const stampOf = async (page: Page) =>
    (await page.locator('#stamp .stampmark').allTextContents()).join()
  const stamped = (page: Page, hasText: string) =>
    page.locator('#stamp .stampmark', { hasText }).waitFor()
  const checksOf = (page: Page) => page.locator('#checks').textContent()

  test('the owner’s browser checks a receipt itself, and stamps it only then', async () => {
    const id = await s.ask('hello')
    const page = await open()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.route('**/assets/verify-*.js', (route) => route.abort())
    await go(page, `/dashboard/receipts/${id}`)
    expect(await stampOf(page)).toBe('')
    expect(await page.getByText('Checked by the server.').isVisible()).toBe(true)
    await page.unroute('**/assets/verify-*.js')
    await page.getByRole('link', { name: 'Check again' }).click()
    await page.getByText('Checked in your browser.').waitFor()
    await stamped(page, 'Verified')
    expect(await checksOf(page)).toContain('Signed and logged. This service anchors nothing.')
    expect(await page.locator('#checks .bad').count()).toBe(0)
    // Lists and other pages do without the verifier.
    expect(asked.filter((path) => /\/(verify|receipt)-/.test(path)).length).toBeGreaterThan(0)
    asked.length = 0
    await go(page, '/dashboard/receipts')
    expect(asked.filter((path) => /\/(verify|receipt)-/.test(path))).toEqual([])
  }, 60_000)

  test.each([true, false])(
    'is shared section by section and taken back, script %p',
    async (script) => {
      const id = await s.ask(`shared ${script}`)
      const page = await open(script)
      await go(page, '/dashboard/receipts')
      await page.locator(`a[href$="${id}"]`).click()
      await page.getByRole('radio', { name: 'Public' }).check()
      await page.getByLabel('The charge: its lines and the total').uncheck()
      await page.getByRole('button', { name: 'Share' }).click()
      const link = await page.getByLabel('Link', { exact: true }).textContent()
      expect(link).toBe(`${s.w.origin}/receipts/${id}`)

      const stranger = await browser.newContext({ javaScriptEnabled: script })
      const there = await stranger.newPage()
      await there.goto((link ?? '').replace('/receipts/', '/r/'), { waitUntil: 'networkidle' })
      const slip = await there.locator('.slip').textContent()
      expect(slip).toContain('counterfoil/echo-1')
      expect(slip).toContain('hidden by the owner')
      expect(slip).not.toContain('0xf39fd6e5')
      const which = script ? 'Checked in your browser.' : 'Checked by the server.'
      await there.getByText(which).first().waitFor()
      if (script) await there.locator('#stamp', { hasText: 'Verified' }).waitFor()
      expect(await there.locator('#stamp').textContent()).toContain(
        script ? 'Verified' : 'Checked by the server',
      )

      await page.getByRole('button', { name: 'Make it private' }).click()
      await page.getByRole('button', { name: 'Share' }).waitFor()
      const gone = await there.reload()
      expect(gone?.status()).toBe(404)
      await stranger.close()
    },
    90_000,
  )

  const tampered: [what: string, change: (html: string) => string, label: string][] = [
    [
      'a field of the file',
      (html) => html.replace(/(durationMs&quot;:&quot;)\d+/, '$1987654'),
      'A field was changed',
    ],
    [
      'a hash of the path',
      (html) => html.replace(/(&quot;leaf&quot;:&quot;0x)..../, '$1beef'),
      'The proof is of another receipt',
    ],
    [
      'the signature',
      (html) =>
        html.replace(
          /(&quot;signature&quot;:&quot;0x[0-9a-f]{128}1)(b|c)/,
          (_, most: string, v: string) => most + (v === 'b' ? 'c' : 'b'),
        ),
      'No trusted key signed it',
    ],
    [
      'the slip alone',
      (html) => html.replace('<dd>counterfoil/echo-1</dd>', '<dd>another/model</dd>'),
      'The slip does not match the file',
    ],
  ]
  test.each(tampered)(
    '%s that was changed on its way turns red',
    async (_, change, label) => {
      const id = await s.ask(label)
      await s.share(id, { visibility: 'public', sections: ['run', 'charge'] })
      const page = await open(true, false)
      await page.route(`**/receipts/${id}`, async (route) => {
        const answer = await route.fetch()
        const html = await answer.text()
        expect(change(html)).not.toBe(html)
        await route.fulfill({ response: answer, body: change(html) })
      })
      await go(page, `/receipts/${id}`)
      const wrong = await page.locator('#checks .bad').first().textContent()
      expect(wrong).toContain(label)
      expect(wrong).toMatch(/[Ee]xpected .+ found /)
      await page.locator('.stampmark').waitFor()
      await stamped(page, 'Not valid')
      expect(await page.locator('#standing').textContent()).toBe('Not valid')
    },
    60_000,
  )

  test('a revealed text is text, no matter what it holds', async () => {
    const id = await s.ask(payload)
    const texts = {
      input: { value: bodyOf(payload) },
      output: {
        value: [
          { index: 0, message: { role: 'assistant', content: payload }, finish_reason: 'stop' },
        ],
      },
    }
    const wish = { visibility: 'public', reveal: ['input', 'output'], disclosures: texts }
    expect((await s.share(id, wish)).status).toBe(200)
    const page = await open(true, false)
    const faults: string[] = []
    page.on('dialog', (dialog) => dialog.dismiss().then(() => faults.push('dialog')))
    page.on('console', (message) => faults.push(message.text()))
    await go(page, `/receipts/${id}`)
    const shown = await page.getByLabel('The output').textContent()
    expect(JSON.parse(shown ?? '')).toEqual(texts.output.value)
    await page.locator('.stampmark').waitFor()
    expect(await checksOf(page)).toContain('Salt and text open the input and output hash')
    await stamped(page, 'Verified')
    expect([faults, await page.locator('main img').count()]).toEqual([[], 0])
  }, 60_000)

  test('is erased after a page that says what goes, without script', async () => {
    const id = await s.ask('erased')
    const page = await open(false)
    await go(page, `/dashboard/receipts/${id}`)
    await page.getByRole('link', { name: 'Erase the texts…' }).click()
    await page.getByText('This deletes 1 thing for good').waitFor()
    await page.getByRole('button', { name: 'Erase the texts' }).click()
    await page.waitForURL(`${s.w.origin}/dashboard/receipts/${id}`)
    await page.getByText('The texts of this receipt were erased').waitFor()
  }, 60_000)

  describe('every look is sound', () => {
    const paths = [
      '/dashboard/receipts',
      '/dashboard/receipts/:id',
      '/dashboard/receipts/:id/erase',
      '/receipts/:id',
    ]
    let id = ''
    beforeAll(async () => {
      id = await s.ask('looked at')
      const texts = { input: { value: bodyOf('looked at') } }
      await s.share(id, { visibility: 'public', reveal: ['input'], disclosures: texts })
    })
    const visits = paths.flatMap((path) =>
      looks.map((look) => [`${path} ${lookName(look)}`, path, look] as const),
    )
    test.each(visits)(
      '%s',
      async (_, path, look) => {
        const jar = path.startsWith('/dashboard') ? cookies : []
        const url = s.w.origin + path.replace(':id', id)
        expect(await inspectPage(browser, url, { ...look, cookies: jar })).toEqual([])
      },
      60_000,
    )
  })
})
