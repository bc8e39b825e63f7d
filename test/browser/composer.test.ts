import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { signedIn } from '../front/console/support.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { chunkOf, modelsToml, pricedBuiltins } from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { type World, world } from '../support/world.ts'
import { marked } from './console-setup.ts'

const path = '/dashboard/console'
/** Says some words, or Markdown; the model "breaks" then breaks off, "waits" takes three seconds more. */
const speak: StubHandler = async ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const said = body['model'] === 'marked' ? marked : ['One transaction', ' can carry any number.']
  for (const text of said) response.write(chunkOf({ content: text }))
  if (body['model'] === 'breaks') return void response.end()
  if (body['model'] === 'waits') await Bun.sleep(3000)
  response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
}

describe.skipIf(noChromium)('the message field of the console, in a real browser', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let service: World
  let browser: Browser
  let context: BrowserContext
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    stub = await startStubUpstream({ handler: speak })
    const names = ['speaks', 'breaks', 'marked', 'waits']
    service = await world({ toml: pricedBuiltins + modelsToml(stub.url, names) })
    const { jar } = await signedIn(service)
    cookies = [...jar].map(([name, value]) => ({ name, value }))
    browser = await startChromium()
  }, 60_000)
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await stub?.stop()
  })

  const open = async (script: boolean, query = ''): Promise<{ page: Page; faults: string[] }> => {
    context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: 'reduce' })
    context.setDefaultTimeout(8000)
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: service.origin })))
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(service.origin + path + query)
    return { page, faults }
  }
  const ask = async (page: Page, model: string, text: string) => {
    await page.getByLabel('Model', { exact: true }).selectOption(model)
    await page.getByLabel('Message').fill(text)
    await page.getByLabel('Message').press('Control+Enter')
  }
  const state = (page: Page) => page.locator('#run-state')

  test('Enter sends and Shift+Enter breaks the line; a reload keeps the talk, until a new chat', async () => {
    const { page, faults } = await open(true)
    const message = page.getByLabel('Message')
    await page.getByLabel('Model', { exact: true }).selectOption('stub/marked')
    await message.pressSequentially('First')
    await message.press('Shift+Enter')
    await message.pressSequentially('second')
    await message.press('Enter')
    await state(page).getByText('Done').waitFor()
    expect(stub.calls.at(-1)?.body['messages']).toEqual([
      { role: 'user', content: 'First\nsecond' },
    ])
    await ask(page, 'stub/breaks', 'Third')
    await page.locator('.talk .cost').nth(1).waitFor()
    await message.fill('')
    const shown = () => page.locator('.talk').locator('.you, .it, .cost').allTextContents()
    const before = await shown()
    const made = await page.locator('.talk .it').first().innerHTML()
    await page.reload()
    await page.locator('.talk .cost').nth(1).waitFor()
    expect(await shown()).toEqual(before)
    expect(await page.locator('.talk .it').first().innerHTML()).toBe(made)
    await ask(page, 'stub/speaks', 'Fourth')
    await state(page).getByText('Done').waitFor()
    // The answer that broke off is not sent along.
    expect(stub.calls.at(-1)?.body['messages']).toHaveLength(3)
    await page.getByLabel('Cap, USD').fill('77')
    await page.getByRole('button', { name: 'Change cap' }).click()
    await page
      .locator('#cap-left')
      .getByText(/^\$7\d\.\d+ left of the cap of Console\.$/)
      .waitFor()
    expect(await shown()).toHaveLength(before.length + 3)
    await page.getByRole('link', { name: 'New chat' }).click()
    await page.getByText('No messages yet').waitFor()
    await page.reload()
    expect(await page.getByText('No messages yet').count()).toBe(1)
    expect(faults).toEqual([])
  }, 60_000)

  test('a tab shows no talk of another account, and keeps none that a new chat or a sign-out ended', async () => {
    const { page } = await open(true)
    const nothing = page.getByText('No messages yet')
    const kept = () => page.evaluate(() => sessionStorage.getItem('counterfoil.talk'))
    await ask(page, 'stub/speaks', 'First')
    await state(page).getByText('Done').waitFor()
    await page.evaluate(() => {
      const talk = JSON.parse(sessionStorage.getItem('counterfoil.talk') ?? '{}')
      const [wallet] = talk.account.split('/')
      sessionStorage.setItem(
        'counterfoil.talk',
        JSON.stringify({ ...talk, account: `${wallet}/0x1` }),
      )
    })
    await page.reload()
    await nothing.waitFor()
    expect(await kept()).toBeNull()
    await ask(page, 'stub/speaks', 'Second')
    await state(page).getByText('Done').waitFor()
    await ask(page, 'stub/waits', 'Third')
    await page.locator('.talk .it').nth(1).waitFor()
    await page.getByRole('link', { name: 'New chat' }).click()
    await nothing.waitFor()
    expect(await kept()).toBeNull()
  }, 60_000)

  test.each([true, false])(
    'on a phone the message stays above the bar, with what is held and left below it (script: %p)',
    async (script) => {
      const { page } = await open(script)
      await page.setViewportSize({ width: 390, height: 844 })
      const field = (await page.getByLabel('Message').boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
      }
      const send = (await page.getByRole('button', { name: 'Send' }).boundingBox()) ?? field
      const bar = (await page.getByRole('navigation', { name: 'Main' }).boundingBox()) ?? field
      const hint = (await page.locator('#cap-left').boundingBox()) ?? field
      expect(hint.y + hint.height).toBeLessThanOrEqual(bar.y)
      expect(hint.y).toBeGreaterThan(field.y + field.height - 1)
      if (script) expect(bar.y - hint.y).toBeLessThan(60)
      expect(Math.abs(send.y + send.height - field.y - field.height)).toBeLessThan(12)
      expect(send.x).toBeGreaterThan(field.x + field.width - 4)
      expect(await page.locator('#cap-left').textContent()).toContain(' left of the cap of ')
    },
    60_000,
  )

  test('a screen keyboard breaks the line by Enter', async () => {
    context = await browser.newContext({
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 844 },
    })
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: service.origin })))
    const page = await context.newPage()
    await page.goto(service.origin + path)
    const message = page.getByLabel('Message')
    await message.fill('First')
    await message.press('Enter')
    await message.press('a')
    expect(await message.inputValue()).toBe('First\na')
  }, 60_000)
})
