import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { pngBytes, pngUrl, signedIn } from '../front/console/support.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { lastRun, modelToml, pricedBuiltins, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { type World, world } from '../support/world.ts'
import {
  ask,
  bad,
  choose,
  done,
  drawnUrl,
  elsewhere,
  file,
  hand,
  names,
  reasons,
  sees,
  speak,
} from './console-setup.ts'
import { inspectPage, lookName, looks } from './support.ts'

const path = '/dashboard/console'
describe.skipIf(noChromium)('files and folded parts in the console, in a real browser', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let service: World
  let browser: Browser
  let context: BrowserContext
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    stub = await startStubUpstream({ handler: speak })
    const kinds = ['sees', 'hostile', 'breaks', 'endless', 'reasons']
    const models = kinds.map((name) => modelToml(`stub/${name}`, `"stub:${name}"`, sees))
    const toml = [pricedBuiltins, upstreamToml('stub', stub.url), ...models]
    service = await world({ toml: `${toml.join('')}[limits]\nbody_bytes = 262144\n` })
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

  const open = async (javaScriptEnabled: boolean) => {
    context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' })
    context.setDefaultTimeout(8000)
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: service.origin })))
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(service.origin) && !url.startsWith('data:'))
        faults.push(`foreign: ${url}`)
    })
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(service.origin + path)
    return { page, faults }
  }
  const base64 = Buffer.from(pngBytes).toString('base64')

  test('images come by choice, paste and drop, can be removed, and go to the model', async () => {
    const { page, faults } = await open(true)
    await choose(page, 'stub/sees')
    await page.getByLabel('Message').fill('What is it?')
    const before = await page.locator('#most').textContent()
    await page.locator('#files').setInputFiles([file('chosen.png')])
    await page.getByRole('button', { name: 'Remove chosen.png' }).waitFor()
    expect(await page.locator('#most').textContent()).not.toBe(before)
    expect(await hand(page, 'paste', [['pasted.png', base64]])).toBe(true)
    await page.getByRole('button', { name: 'Remove pasted.png' }).waitFor()
    expect(await hand(page, 'drop', [['dropped.png', base64]])).toBe(true)
    await page.getByRole('button', { name: 'Remove dropped.png' }).waitFor()
    await page.getByRole('button', { name: 'Remove pasted.png' }).click()
    await page.getByRole('button', { name: 'Remove pasted.png' }).waitFor({ state: 'detached' })
    expect(await names(page)).toEqual(['chosen.png', 'dropped.png'])
    const most = await page.locator('#most').textContent()
    expect(await page.locator('#curl').textContent()).toContain("$(base64 < 'chosen.png'")
    await page.getByRole('button', { name: 'Send' }).click()
    await done(page)
    const content = (
      stub.calls.at(-1)?.body['messages'] as { content: object[] }[] | undefined
    )?.[0]?.content
    expect(content).toEqual([
      { type: 'image_url', image_url: { url: drawnUrl } },
      { type: 'image_url', image_url: { url: pngUrl } },
      { type: 'text', text: 'What is it?' },
    ])
    expect(most).toBe(`$${Number((await lastRun(service)).hold) / 1e9}`)
    expect(await names(page)).toEqual([])
    expect(await page.locator('.talk .sent img').count()).toBe(2)

    await ask(page, 'stub/sees', 'And then?')
    await page.locator('.talk .cost').nth(1).waitFor()
    const again = stub.calls.at(-1)?.body['messages'] as { role: string; content: object[] }[]
    expect(again[0]?.content).toHaveLength(3)
    expect(again.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
    expect(faults).toEqual([])
  }, 60_000)

  test('text from a word processor is pasted as text, although a picture lies beside it', async () => {
    const { page } = await open(true)
    expect(await hand(page, 'paste', [['image.png', base64]], 'Some words')).toBe(false)
    expect(await names(page)).toEqual([])
    expect(await hand(page, 'paste', [['image.png', base64]], 'image.png')).toBe(true)
  }, 60_000)

  test('files beyond the bounds are refused in words, and nothing written is lost', async () => {
    const { page } = await open(true)
    await choose(page, 'stub/sees')
    await page.getByLabel('Message').fill('Keep this.')
    const fault = page.locator('#files-fault')
    const small = Array.from({ length: 9 }, (_, at) => file(`${at}.png`, pngBytes))
    await page.locator('#files').setInputFiles(small)
    await fault.getByText('A message takes at most 8 files.').waitFor()
    expect(await names(page)).toHaveLength(8)
    await page.getByRole('button', { name: 'Remove 7.png' }).click()
    const large = Buffer.concat([pngBytes, Buffer.alloc(160_000)])
    await page.locator('#files').setInputFiles([file('large.png', large)])
    await fault.getByText('together; 147 kB fit. Send smaller ones or fewer.').waitFor()
    const huge = Buffer.concat([pngBytes, Buffer.alloc(400_000)])
    await page.locator('#files').setInputFiles([file('huge.png', huge)])
    await fault.getByText('"huge.png" has 400 kB; 147 kB fit.').waitFor()
    await page.locator('#files').setInputFiles([file('note.png', Buffer.from('Hello'))])
    await fault.getByText('"note.png" is not a PNG, JPEG, WebP, GIF or PDF file.').waitFor()
    expect(await names(page)).toHaveLength(7)
    expect(await page.getByLabel('Message').inputValue()).toBe('Keep this.')
  }, 60_000)

  test('a model that takes no images says so before anything is sent', async () => {
    const { page } = await open(true)
    await choose(page, 'counterfoil/echo-1')
    expect(await page.locator('#files-hint').textContent()).toContain('takes no images.')
    expect(await page.locator('#files').isDisabled()).toBe(true)
    await choose(page, 'stub/sees')
    expect(await page.locator('#files-hint').textContent()).toContain('1,600 tokens for an image')
    await page.locator('#files').setInputFiles([file('a.png')])
    await page.getByRole('button', { name: 'Remove a.png' }).waitFor()
    const sent = (await lastRun(service)).id
    await ask(page, 'counterfoil/echo-1')
    await page.locator('#files-fault').getByText('takes no images. Remove "a.png"').waitFor()
    expect((await lastRun(service)).id).toBe(sent)
    expect(await page.getByLabel('Message').inputValue()).toBe('What is it?')
    await ask(page, 'stub/sees')
    await done(page)
    // An earlier message has the image now.
    await ask(page, 'counterfoil/echo-1', 'And?')
    await page.getByText('An earlier message has one').waitFor()
  }, 60_000)

  test('a question that fails keeps its files', async () => {
    const { page } = await open(true)
    await choose(page, 'stub/breaks')
    await page.locator('#files').setInputFiles([file('a.png')])
    await ask(page, 'stub/breaks')
    await page.getByText(/The model server stopped after \d+ tokens/).waitFor()
    expect(await names(page)).toEqual(['a.png'])
    expect(await page.locator('.talk .aside summary').textContent()).toBe('Reasoning, 10 words')
  }, 60_000)

  test.each([true, false])(
    'reasoning, calls and images are folded or drawn (script: %p)',
    async (javaScriptEnabled) => {
      const { page, faults } = await open(javaScriptEnabled)
      await ask(page, 'stub/sees')
      await done(page)
      const asides = page.locator('.talk details.aside')
      expect(await asides.locator('summary').allInnerTexts()).toEqual([
        'Reasoning, 10 words',
        'Tool call get_weather',
        'Tool call now',
      ])
      expect(await asides.locator('p, pre').nth(0).isVisible()).toBe(false)
      expect(await asides.locator('p').textContent()).toBe(reasons.join(''))
      expect(await asides.locator('pre').nth(0).textContent()).toContain(
        '"id": 12345678901234567890',
      )
      await asides.locator('summary').nth(1).press('Enter')
      expect(await asides.locator('pre').nth(0).isVisible()).toBe(true)
      expect(await page.locator('.talk .it').textContent()).toBe('One bar, at seven.')
      const image = page.getByRole('img', { name: 'Image 1 of the answer' })
      expect(await image.getAttribute('src')).toBe(drawnUrl)
      expect(
        await image.evaluate((one: HTMLImageElement) => one.decode().then(() => one.naturalWidth)),
      ).toBeGreaterThan(0)
      expect(faults).toEqual([])
    },
    60_000,
  )

  promise`C1`
  promise`C16`
  test.each([true, false])(
    'what a hostile model reasons, calls and draws is text (script: %p)',
    async (javaScriptEnabled) => {
      const { page, faults } = await open(javaScriptEnabled)
      await ask(page, 'stub/hostile')
      await done(page)
      expect(await page.locator('.talk img').count()).toBe(0)
      expect(await page.locator('.talk .aside > :is(p, pre) *').count()).toBe(0)
      expect(await page.locator('.talk summary code').first().textContent()).toBe(bad)
      const said = await page.locator('.talk .it').allTextContents()
      expect(said[0]).toBe(bad)
      expect(said[2]).toBe(`An image that is not shown here: ${elsewhere}`)
      expect(said).toHaveLength(4)
      expect(faults).toEqual([])
    },
    60_000,
  )

  test('reasoning that is stopped stays folded with its words, and is charged', async () => {
    const { page } = await open(true)
    await ask(page, 'stub/endless')
    await page.getByText('Reasoning…').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(/You stopped it after \d+ tokens\. You were charged/).waitFor()
    expect(await page.locator('.talk .aside summary').textContent()).toMatch(/Reasoning, \d+ words/)
  }, 60_000)

  test('without script a file goes along, and one that is refused has a box to send it again', async () => {
    const { page, faults } = await open(false)
    await choose(page, 'counterfoil/echo-1')
    await page.getByLabel('Attach images or PDFs').setInputFiles([file('a.png')])
    await ask(page, 'counterfoil/echo-1')
    await page.getByText('takes no images. Remove "a.png", or choose another model.').waitFor()
    const box = page.getByRole('checkbox', { name: 'a.png' })
    expect(await box.isChecked()).toBe(true)
    expect(await page.getByLabel('Message').inputValue()).toBe('What is it?')
    await ask(page, 'stub/sees')
    await done(page)
    expect(await page.locator('.talk .sent img').count()).toBe(1)
    expect(await box.count()).toBe(0)
    await ask(page, 'stub/reasons', 'And?')
    await done(page)
    const messages = stub.calls.at(-1)?.body['messages'] as { content: unknown }[]
    expect(messages[0]?.content).toHaveLength(2)
    expect(faults.filter((line) => !line.includes('400'))).toEqual([])
  }, 60_000)

  const shot = (name: string) =>
    process.env['SHOTS'] ? { shot: `${process.env['SHOTS']}/${name}.png` } : {}

  test.each(looks)(
    'the page with files and folded parts has no fault: %j',
    async (look) => {
      const act = async (page: Page) => {
        await choose(page, 'stub/sees')
        await page
          .locator('#files')
          .setInputFiles([file('chart.png'), file('bars of last month.png')])
        if (look.script) await page.getByRole('button', { name: 'Remove chart.png' }).waitFor()
        // What is chosen stands above its button, and moves that by intent: a shift counts after it.
        // Shifts are told after they are painted.
        const forget = async () => {
          await page.waitForTimeout(200)
          if (look.script) await page.evaluate('window.shifted.length = 0')
        }
        await ask(page, 'stub/sees', 'What do these charts show?')
        await forget()
        await done(page)
        await page.locator('.talk .aside summary').nth(1).click()
        await page.locator('#files').setInputFiles([file('one more.png')])
        if (look.script) await page.getByRole('button', { name: 'Remove one more.png' }).waitFor()
        await forget()
      }
      const visit = { ...look, cookies, act, ...shot(`console-3 ${lookName(look)}`) }
      const faults = await inspectPage(browser, service.origin + path, visit)
      // The page's weight ends with its load.
      expect(faults.filter((fault) => !/bytes compressed/.test(fault))).toEqual([])
    },
    120_000,
  )
})
