import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { type Scope, scopes } from '../../src/access/keys/key.ts'
import { receiptIdOf } from '../../src/proof/receipts/receipt.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { shareAs } from '../front/explorer/world.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { lastRun, modelsToml, pricedBuiltins } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { axe } from './axe.ts'

setDefaultTimeout(60_000)

/** Each is typed; the page or action that comes first is named. */
const paletteWords: [text: string, name: string][] = [
  ...['Overview', 'Console', 'Runs', 'Receipts', 'Keys', 'Usage', 'Billing', 'Vouchers'],
  ...['Liabilities', 'Plan', 'Passport', 'Settings', 'Members', 'Webhooks', 'Sessions'],
].map((name): [string, string] => [name.toLowerCase(), name])
paletteWords.push(
  ['statement', 'Billing'],
  ['invoice', 'Billing'],
  ['csv', 'Usage'],
  ['logs', 'Runs'],
  ['dark', 'Colours: dark'],
  ['light', 'Colours: light'],
  ['theme', 'Colours:'],
  ['pause research', 'Pause research-fleet'],
  ['pause', 'Pause'],
  ['raise cap research', 'Change research-fleet'],
  ['revoke research', 'Revoke research-fleet'],
  ['top up', 'Vouchers'],
  ['withdraw', 'Billing'],
  ['api key', 'Keys'],
  ['curl', 'Docs'],
  ['docs', 'Docs'],
  ['sign out', 'Sign out'],
  ['log out', 'Sign out'],
  ['runs of counterfoil/echo', 'Runs of counterfoil/echo-1'],
)

describe.skipIf(noChromium)('the command palette, in a real browser', () => {
  let stub: StubUpstream
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let fleet: string
  let secret: string
  let ended: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = `admins = ["${testAccount}"]\n${pricedBuiltins}`
    w = await world({ toml: toml + modelsToml(stub.url, ['status-429']) })
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    const all: Scope[] = [...scopes]
    const cap = { balance: 5n * usd, capWindow: 'month' } as const
    const key = await w.key({ name: 'research-fleet', scopes: all, ...cap })
    fleet = key.key.id
    secret = key.secret
    await w.key({ name: 'crawler-01, whose name is rather long', parentId: fleet })
    for (const model of ['counterfoil/echo-1', 'stub/status-429', 'counterfoil/echo-1']) {
      await w.call('/v1/runs', { key: key.secret, json: { model, input: 'hello' } })
      ended = (await lastRun(w)).id
      // The explorer folds private runs into one line, so each is made public.
      await shareAs(w, key.secret, receiptIdOf(ended), { visibility: 'public' })
    }
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    await stub?.stop()
  })

  async function at<T>(
    path: string,
    [width, height]: [width: number, height: number],
    look: (page: Page) => Promise<T>,
    javaScriptEnabled = true,
  ): Promise<T> {
    const context = await browser.newContext({ viewport: { width, height }, javaScriptEnabled })
    try {
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      await page.goto(w.origin + path)
      return await look(page)
    } finally {
      await context.close()
    }
  }

  const _tables = [
    '/dashboard',
    '/dashboard/runs',
    '/dashboard/receipts',
    '/dashboard/keys',
    '/dashboard/usage?group_by=key,model',
    '/dashboard/statement?by=movement',
    '/dashboard/sessions',
    '/dashboard/admin',
    '/dashboard/admin/models',
    '/dashboard/admin/audit-log',
    '/explorer',
    '/models',
    '/plans',
  ]

  test('the keyboard alone opens the palette, finds a key, opens an id that is pasted, and leaves', async () => {
    await at('/dashboard', [1280, 800], async (page) => {
      const scripts: string[] = []
      page.on('request', (request) => scripts.push(new URL(request.url()).pathname))
      const palette = page.getByRole('dialog', { name: 'Command palette' })
      const box = page.getByRole('combobox', { name: 'Go to or do' })
      const press = async () => {
        await page.keyboard.press('Control+k')
        await box.and(page.locator(':focus')).waitFor()
      }
      await press()
      expect(scripts.filter((path) => path.startsWith('/assets/palette-')).length).toBe(1)
      expect(await axe(page)).toEqual([])
      await page.keyboard.press('ArrowUp')
      const last = await palette.getByRole('option').last().getAttribute('id')
      expect(await box.getAttribute('aria-activedescendant')).toBe(last)
      await page.keyboard.press('Escape')
      await palette.waitFor({ state: 'detached' })
      await press()
      await page.keyboard.type('research')
      await palette.getByRole('option', { name: /^research-fleet/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/keys/${fleet}`)
      await press()
      await page.keyboard.insertText(ended)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/runs/${ended}`)
    })
  })

  test('the palette finds every page by its name, and each by other words for it', async () => {
    await at('/dashboard', [1280, 800], async (page) => {
      await page.locator('.spine').waitFor()
      await page.keyboard.press('/')
      const box = page.getByRole('combobox', { name: 'Go to or do' })
      const wrong: string[] = []
      for (const [text, name] of paletteWords) {
        await box.fill(text)
        const first = page.getByRole('option').first().filter({ hasText: name })
        const found = first.waitFor({ timeout: 10_000 })
        await found.catch(async () =>
          wrong.push(`${text}: ${await page.getByRole('option').allTextContents()}`),
        )
      }
      expect(wrong).toEqual([])
    })
  })

  test('without script the palette is a page of links', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
    const page = await context.newPage()
    await page.goto(`${w.origin}/dashboard`)
    await page.getByRole('link', { name: 'Find a page' }).click()
    await page.locator('#find-pages').getByRole('link', { name: 'Billing' }).waitFor()
    expect(await page.locator('#find-pages').textContent()).toContain('invoice')
    await page.locator('#find-keys').getByRole('link', { name: 'research-fleet' }).click()
    await page.waitForURL(`**/dashboard/keys/${fleet}`)
    await context.close()
    const faults = await at('/dashboard/find', [1280, 800], (page) => axe(page))
    expect(faults).toEqual([])
  })

  test('a chosen entry is listed first the next time, and a pause asks with its button in focus', async () => {
    await at('/dashboard', [1280, 800], async (page) => {
      const box = page.getByRole('combobox', { name: 'Go to or do' })
      await page.locator('.spine').waitFor()
      await page.keyboard.press('/')
      await box.fill('pause research')
      await page.getByRole('option', { name: /^Pause research-fleet/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/keys/${fleet}/pause`)
      const pause = page.getByRole('button', { name: 'Pause research-fleet' })
      await pause.and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().filter({ hasText: 'Pause research-fleet' }).waitFor()
    })
  })

  test('n and k open a new key, and what was chosen is listed first in its own account alone', async () => {
    await at('/dashboard', [1280, 800], async (page) => {
      await page.locator('.spine').waitFor()
      await page.keyboard.press('n')
      await page.keyboard.press('k')
      await page.waitForURL('**/dashboard/keys/new')
      const key = `counterfoil.recent ${testAccount} 0x00`
      await page.evaluate(`sessionStorage.setItem('${key}', '["Usage"]')`)
      await page.getByRole('heading', { name: 'New key' }).first().click()
      await page.keyboard.press('Control+k')
      const first = page.locator('.palette [role="option"]').first()
      await first.waitFor()
      expect(await first.textContent()).not.toContain('Usage')
    })
  })

  test('the counts beside the pages follow with a fragment', async () => {
    await at('/dashboard/runs', [1280, 800], async (page) => {
      const count = page.locator('#n-dashboard-runs')
      const before = Number(await count.textContent())
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      await w.call('/v1/runs', { key: secret, json })
      await page.evaluate(
        "htmx.ajax('GET', '/api/portal/runs', { target: '#runs', swap: 'outerHTML' })",
      )
      await count.filter({ hasText: String(before + 1) }).waitFor({ timeout: 10_000 })
    })
  })

  test('a new key shows one block to paste, and its first run comes in by itself', async () => {
    await at('/dashboard/keys/new', [1280, 800], async (page) => {
      await page.getByLabel('Name').fill('pasted')
      await page.getByLabel('Cap, USD').fill('1')
      await page.getByRole('button', { name: 'Create key' }).click()
      const block = (await page.locator('#try-curl').textContent()) ?? ''
      const fresh = /COUNTERFOIL_KEY=(\S+)/.exec(block)?.[1] ?? ''
      expect(block).toContain('/v1\n')
      const model = /"model": "([^"]+)"/.exec(block)?.[1] ?? ''
      await page.getByText('Waiting for the first run').waitFor()
      const messages = [{ role: 'user', content: 'hi' }]
      await w.call('/v1/chat/completions', { key: fresh, json: { model, messages } })
      const receipt = receiptIdOf((await lastRun(w)).id)
      await page.locator(`#first-run a[href="/receipts/${receipt}"]`).waitFor({ timeout: 15_000 })
    })
  })
})
