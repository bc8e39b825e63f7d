import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { secretIn } from '../access/keys/own.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { axe } from './axe.ts'
import { inspectPage, type Look, lookName, looks } from './support.ts'

const path = '/dashboard/keys'
const day = 86_400_000

describe.skipIf(noChromium)('the pages of keys', () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let ids: { fleet: string; crawler: string }
  beforeAll(async () => {
    w = await world({ toml: priced })
    browser = await startChromium()
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    ids = await furnish(w)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  const open = async (options: { javaScriptEnabled?: boolean } = {}): Promise<BrowserContext> => {
    const context = await browser.newContext(options)
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
    return context
  }
  const countOf = async () => (await w.deps.keys.list(testAccount, Date.now())).length

  promise`C14 H: A secret once shown is in no address, title, history or store of the browser.`
  test('the keyboard alone creates a key, copies it and is done; it is nowhere afterwards', async () => {
    const context = await open()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: w.origin })
    const page = await context.newPage()
    await page.goto(w.origin + path)
    await tabTo(page, () => page.getByRole('link', { name: 'New key' }))
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${path}/new`)
    // The first field takes the focus; what is typed before is lost.
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('by-keyboard')
    await tabTo(page, () => page.getByLabel('Cap, USD'))
    await page.keyboard.type('2.50')
    await page.keyboard.press('Enter')
    const secret = (await page.getByLabel('Secret key').textContent()) ?? ''
    expect(secret).toMatch(/^sk-service-\w{49}$/)
    // The secret takes the focus: what comes next is its button.
    await page.locator(':focus').filter({ hasText: secret }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret)
    await page.waitForURL(/\/dashboard\/keys\/key_\w+\/secret$/)
    expect(await page.title()).toBe('New secret · Counterfoil')
    expect(await page.title()).not.toContain('sk-')
    expect(await storedIn(page)).not.toContain(secret)
    await tabTo(page, () => page.getByLabel('I have stored it somewhere safe'))
    await page.keyboard.press('Space')
    await tabTo(page, () => page.getByRole('button', { name: 'Done' }))
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /by-keyboard/ }).waitFor()
    expect(page.url()).toContain(`${w.origin}${path}`)
    expect(await page.getByLabel('Secret key').count()).toBe(0)
    expect(await page.content()).not.toContain(secret)
    await page.goBack()
    expect(await page.content()).not.toContain(secret)
    await context.close()
  }, 60_000)

  test('what is wrong is said in place, and what was typed stays', async () => {
    const context = await open()
    const page = await context.newPage()
    await page.goto(`${w.origin}${path}/new`)
    await page.getByLabel('Name', { exact: true }).fill('too-much')
    await page.getByLabel('Parent').selectOption(ids.fleet)
    await page.getByLabel('Cap, USD').fill('60')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('The parent’s cap is $50.00. Enter at most that.').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('too-much')
    expect(await page.getByLabel('Parent').inputValue()).toBe(ids.fleet)
    await page.getByLabel('Cap, USD').fill('6')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Secret key').waitFor()
    await context.close()
  }, 60_000)

  promise`C14`
  promise`C20`
  test('without script: a reload neither shows the secret again nor makes another key', async () => {
    const context = await open({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${w.origin}${path}/new`)
    await page.getByLabel('Name', { exact: true }).fill('no-script')
    await page.getByLabel('Cap, USD').fill('1')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Secret key').waitFor()
    expect(secretIn(await page.content())).toBeDefined()
    const before = await countOf()
    await page.reload()
    await page.getByText('The secret was shown.').waitFor()
    expect(secretIn(await page.content())).toBeUndefined()
    expect(await countOf()).toBe(before)

    await page.getByRole('link', { name: 'Go to the key' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    // Taken back from where it is said.
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('status').filter({ hasText: 'Key resumed.' }).waitFor()
    await page.reload()
    expect(await page.getByRole('status').textContent()).toBe('')
    await page.getByRole('link', { name: 'Rotate' }).click()
    await page.getByLabel('In 1 h').check()
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await page.getByLabel('Secret key').waitFor()
    expect(secretIn(await page.content())).toBeDefined()
    await page.getByLabel('I have stored it somewhere safe').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke 1 key' }).click()
    await page.getByText('Revoked by').waitFor()
    await context.close()
  }, 60_000)

  test('rotate and revoke open beside the list; the page stays, and so does what was not done', async () => {
    const context = await open()
    const page = await context.newPage()
    await page.goto(w.origin + path)
    const before = await countOf()
    await page.getByRole('link', { name: 'Revoke… crawler-02' }).click()
    const panel = page.getByRole('dialog', { name: 'Revoke crawler-02?' })
    await panel.getByRole('button', { name: 'Revoke 1 key' }).waitFor()
    expect(await axe(page)).toEqual([])
    await panel.getByRole('link', { name: 'Keep it' }).click()
    await panel.waitFor({ state: 'hidden' })
    await page.waitForURL(w.origin + path)
    expect(await countOf()).toBe(before)

    const opener = page.getByRole('link', { name: 'Rotate… crawler-02' })
    await opener.press('Enter')
    await page.getByRole('dialog', { name: 'Give crawler-02 a new secret' }).waitFor()
    await page.keyboard.press('Escape')
    await opener.and(page.locator(':focus')).waitFor()
    await opener.press('Enter')
    await page.getByRole('button', { name: 'Rotate the secret' }).press('Enter')
    await page.getByLabel('Secret key').waitFor()
    await page.waitForURL(/\/dashboard\/keys\/key_\w+\/secret$/)
    await page.reload()
    await page.getByText('The secret was shown.').waitFor()
    await context.close()
  }, 60_000)

  const pages: [name: string, at: () => string][] = [
    ['keys', () => path],
    ['new key', () => `${path}/new`],
    ['key', () => `${path}/${ids.crawler}`],
    ['revoke', () => `${path}/${ids.fleet}/revoke`],
    ['rotate', () => `${path}/${ids.fleet}/rotate`],
  ]
  const shotOf = (name: string, look: Look) =>
    process.env['SHOTS'] ? { shot: `${process.env['SHOTS']}/${name} ${lookName(look)}.png` } : {}

  promise`C4`
  describe.each(pages)('the page %s has no fault', (name, at) => {
    test.each(looks)(
      '%j',
      async (look) => {
        const visit = { ...look, ...shotOf(name, look), cookies }
        expect(await inspectPage(browser, w.origin + at(), visit)).toEqual([])
      },
      120_000,
    )
  })

  test.each(looks)(
    'the page with a new secret has no fault: %j',
    async (look) => {
      const act = async (page: Page) => {
        await page.getByLabel('Name', { exact: true }).fill('shown-once')
        await page.getByLabel('Cap, USD').fill('1')
        await page.getByRole('button', { name: 'Create key' }).click()
        await page.getByLabel('Secret key').waitFor()
      }
      const visit = { ...look, ...shotOf('secret', look), cookies, act }
      expect(await inspectPage(browser, `${w.origin}${path}/new`, visit)).toEqual([])
    },
    120_000,
  )
})

/** Presses Tab until something has the focus. */
async function tabTo(page: Page, find: () => ReturnType<Page['locator']>): Promise<void> {
  for (let i = 0; i < 80; i++) {
    if (await find().evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('not to be reached by Tab')
}

/** All that a page keeps beyond itself. */
const storedIn = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie])',
  )

const priced = [
  '[[models]]',
  'id = "counterfoil/echo-1"',
  'input_pusd = 0',
  'output_pusd = 0',
  'request_nusd = 310_000_000',
].join('\n')

/** A fleet of keys in every state, some of it spent. */
async function furnish(w: World): Promise<{ fleet: string; crawler: string }> {
  const key = (name: string, wish: Parameters<World['key']>[0] = {}) => w.key({ name, ...wish })
  const spend = async (secret: string, times: number) => {
    const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hi' }] }
    for (let i = 0; i < times; i++) await w.call('/v1/chat/completions', { key: secret, json })
  }
  const old = await key('old-laptop', { capLimit: 5n * usd, balance: 100n * usd })
  await spend(old.secret, 4)
  const fleet = await key('research-fleet', { capLimit: 50n * usd, capWindow: 'month' })
  const parentId = fleet.key.id
  const crawler = await key('crawler-01', {
    parentId,
    capLimit: 10n * usd,
    capWindow: 'day',
    tags: { team: 'search', env: 'prod' },
    models: ['counterfoil/*'],
  })
  await spend(crawler.secret, 30)
  const soon = Date.now() + 3 * day + 60_000
  const second = await key('crawler-02', { parentId, capLimit: 2n * usd, expiresAt: soon })
  await spend(second.secret, 2)
  const paused = await key('night-batch', { capLimit: 20n * usd })
  const own = caller(w)
  await signInWith(own)
  await own.call(`/api/portal/keys/${paused.key.id}/pause`, { method: 'POST' })
  await own.call(`/api/portal/keys/${old.key.id}/revoke`, { method: 'POST' })
  return { fleet: fleet.key.id, crawler: crawler.key.id }
}
