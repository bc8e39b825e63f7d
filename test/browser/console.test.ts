import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { toUsd } from '../../src/kernel/money.ts'
import { account, signedIn } from '../front/console/support.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { chunkOf, lastRun, modelsToml, pricedBuiltins } from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { type World, world } from '../support/world.ts'
import { payloads } from '../web/ui/payloads.ts'
import { madeOf, marked } from './console-setup.ts'
import { inspectPage, lookName, looks } from './support.ts'

const path = '/dashboard/console'
const words = ['One transaction', ' can carry', ' any number', ' of receipts.']

/** HTML has no zero byte. */
const shown = payloads.map((payload) => payload.replaceAll('\0', ''))

/** Says what the model's name asks for: some words, words without end, or every payload. */
const speak: StubHandler = async ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (text: string) => response.write(chunkOf({ content: text }))
  if (body['model'] === 'payloads') for (const payload of payloads) send(`${payload}\n`)
  else if (body['model'] === 'marked') for (const piece of marked) send(piece)
  else for (const word of words) send(word)
  if (body['model'] === 'breaks') return void response.end()
  while (body['model'] === 'endless' && !response.destroyed) {
    send(' and on')
    await Bun.sleep(5)
  }
  response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
}

describe.skipIf(noChromium)('the console, in a real browser', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let service: World
  let browser: Browser
  let context: BrowserContext
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    stub = await startStubUpstream({ handler: speak })
    const names = ['speaks', 'endless', 'breaks', 'payloads', 'marked']
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

  test('a question by Ctrl+Enter: the answer comes as text, with its cost and receipt beside it', async () => {
    const { page, faults } = await open(true)
    await ask(page, 'stub/speaks', 'Why batch?')
    await state(page).getByText('Done').waitFor()
    const run = await lastRun(service)
    expect(await page.locator('.talk .it').textContent()).toBe(words.join(''))
    const receipt = `/receipts/rcpt_${run.id.slice(4)}`
    expect(await page.locator('#run-receipt a').getAttribute('href')).toBe(receipt)
    expect(await page.locator('.talk .cost a').getAttribute('href')).toBe(receipt)
    expect(await page.locator('#run-cost').textContent()).toBe(`$${toUsd(run.cost)}`)
    expect(await page.locator('#run-first').textContent()).toMatch(/^\d+ ms$/)
    expect(await page.getByLabel('Message').inputValue()).toBe('')

    await ask(page, 'stub/speaks', 'And then?')
    await page.locator('.talk .cost').nth(1).waitFor()
    expect(stub.calls.at(-1)?.body['messages']).toEqual([
      { role: 'user', content: 'Why batch?' },
      { role: 'assistant', content: words.join('') },
      { role: 'user', content: 'And then?' },
    ])
    expect(await page.locator('#curl').textContent()).toContain('"content": "And then?"}]')
    // The key that pays was made meanwhile, and its panel says so.
    await page.locator('#console-key').getByText('Paid by your key').waitFor()
    expect(faults).toEqual([])
  }, 60_000)

  test.each([true, false])(
    'a message behind a slash is a command, answered in place (script: %p)',
    async (script) => {
      const { page, faults } = await open(script)
      await page.getByLabel('Message').fill('/help')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('.talk .told').getByText('run <run id>').waitFor()
      expect(await page.getByLabel('Message').inputValue()).toBe('')
      await page.getByLabel('Message').fill('/hepl')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Did you mean "help"?').waitFor()
      expect(await page.getByLabel('Message').inputValue()).toBe('/hepl')
      expect(await page.locator('.talk .it.told').count()).toBe(script ? 1 : 0)
      expect(faults.filter((line) => !line.includes('400'))).toEqual([])
    },
    60_000,
  )

  test('what is foreseen is what is held, and the call for an agent holds no secret', async () => {
    const { page } = await open(true)
    await page.getByLabel('Model', { exact: true }).selectOption('stub/speaks')
    await page.getByLabel('Message').fill("it's ü")
    const most = await page.locator('#most').textContent()
    const curl = await page.locator('#curl').textContent()
    expect(curl).toContain('"Authorization: Bearer $COUNTERFOIL_KEY"')
    expect(curl).toContain(`it'\\''s ü`)
    expect(curl).not.toContain('sk-service-')
    await page.getByRole('button', { name: 'Send' }).click()
    await state(page).getByText('Done').waitFor()
    const { hold } = await lastRun(service)
    expect(most).toBe(`$${Number(hold) / 1e9}`)
  }, 60_000)

  test('Stop ends the run at once; what was said is charged, and its receipt is there', async () => {
    const { page } = await open(true)
    await ask(page, 'stub/endless', 'Go on')
    await page.getByText('and on and on').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(/You stopped it after \d+ tokens\. You were charged \$0\.\d+/).waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('Go on')
    expect(await page.locator('#trouble-receipt a').count()).toBe(1)
    expect((await lastRun(service)).outcome).toBe('cancelled')
    expect(await state(page).textContent()).toBe('Stopped')
    expect(await page.locator('#trouble .note.bad').count()).toBe(0)
  }, 60_000)

  test('an upstream that breaks off says what was charged, and can be asked again', async () => {
    const { page } = await open(true)
    await ask(page, 'stub/breaks', 'Hello')
    await page.getByText(/The model server stopped after \d+ tokens\. You were charged/).waitFor()
    await page.getByLabel('Model', { exact: true }).selectOption('stub/speaks')
    await page.getByRole('button', { name: 'Retry' }).click()
    await state(page).getByText('Done').waitFor()
    expect(await page.locator('#trouble').isVisible()).toBe(false)
  }, 60_000)

  test('a refusal before it runs is said in place, with what to do', async () => {
    const { page } = await open(true)
    // A model that was taken out of the configuration while the page was open.
    await page.locator('option[value="stub/speaks"]').evaluate((option: HTMLOptionElement) => {
      option.value = 'stub/gone'
    })
    await ask(page, 'stub/gone', 'Hello')
    await page.locator('#trouble').getByText('There is no such model').waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello')
  }, 60_000)

  test('more output than the model has is foreseen, sent and held as its limit', async () => {
    const { page } = await open(true)
    await page.getByLabel('Model', { exact: true }).selectOption('stub/speaks')
    await page.getByText('Parameters').click()
    await page.getByLabel('Message').fill('Hello')
    const foreseen = async (most: string) => {
      await page.getByLabel('Max output tokens').fill(most)
      return page.locator('#most').textContent()
    }
    expect(await foreseen('9999999')).toBe(await foreseen('1000'))
    await foreseen('9999999')
    await page.getByLabel('Message').press('Control+Enter')
    await state(page).getByText('Done').waitFor()
    expect(stub.calls.at(-1)?.body['max_tokens']).toBe(1000)
  }, 60_000)

  test('an example goes into the field, with script and without', async () => {
    for (const script of [true, false]) {
      const { page } = await open(script)
      await page.getByText('Insert an example').click()
      expect(await page.getByLabel('Message').inputValue()).toContain('batch receipts')
      await context.close()
    }
  }, 60_000)

  promise`C1`
  test.each([true, false])(
    'a model’s output is text, whatever it says (script: %p)',
    async (script) => {
      const { page, faults } = await open(script)
      await page.getByLabel('Model', { exact: true }).selectOption('stub/payloads')
      await page.getByLabel('Message').fill(shown.join('\n'))
      await page.getByRole('button', { name: 'Send' }).click()
      await state(page).getByText('Done').waitFor()
      const said = await page.locator('.talk .it').textContent()
      // The marks of Markdown become elements.
      const plain = (text: string) => text.replace(/[\s`*_\\[\]()\0]/g, '')
      for (const one of shown) expect(plain(said ?? '')).toContain(plain(one))
      expect(await page.locator('.talk .you').textContent()).toBe(shown.join('\n'))
      expect(await page.locator('.talk .you *').count()).toBe(0)
      expect(await madeOf(page)).toEqual([])
      expect(faults).toEqual([])
    },
    60_000,
  )

  test.each([true, false])(
    'Markdown becomes a few safe elements, with a copy button on code (script: %p)',
    async (script) => {
      const { page, faults } = await open(script)
      await page.getByLabel('Model', { exact: true }).selectOption('stub/marked')
      await page.getByLabel('Message').fill('Mark it up')
      await page.getByRole('button', { name: 'Send' }).click()
      await state(page).getByText('Done').waitFor()
      const it = page.locator('.talk .it')
      expect(await it.locator('strong').allTextContents()).toEqual(['Head', 'bold'])
      expect(await it.locator('li').allTextContents()).toEqual(['one', 'two'])
      expect(await it.locator('pre').textContent()).toBe('<b onclick="alert(1)">&amp;</b>')
      const link = it.getByRole('link', { name: 'a link' })
      expect(await link.getAttribute('href')).toBe('https://example.com/a?b=1&c=2')
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer nofollow')
      expect(await it.textContent()).toContain('[bad](javascript:alert(1))')
      expect(await it.textContent()).toContain('<img src=x onerror=alert(1)>')
      expect(await madeOf(page)).toEqual([])
      expect(await it.getByRole('button', { name: 'Copy' }).isVisible()).toBe(script)
      if (script) {
        await context.grantPermissions(['clipboard-read', 'clipboard-write'])
        await it.getByRole('button', { name: 'Copy' }).click()
        await it.getByRole('button', { name: 'Copied' }).waitFor()
        const copied = await page.evaluate(() => navigator.clipboard.readText())
        expect(copied).toBe('<b onclick="alert(1)">&amp;</b>')
      }
      expect(faults).toEqual([])
    },
    60_000,
  )

  promise`C20`
  test('without script a form and a page do all of it, turn by turn', async () => {
    const { page } = await open(false)
    const say = async (text: string) => {
      await page.getByLabel('Message').fill(text)
      const send = page.getByRole('button', { name: 'Send' })
      await Promise.all([page.waitForEvent('load'), send.click()])
    }
    await page.getByLabel('Model', { exact: true }).selectOption('stub/speaks')
    await say('Why batch?')
    expect(await page.locator('.talk .it').allTextContents()).toEqual([words.join('')])
    expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('stub/speaks')
    await say('And then?')
    expect(await page.locator('.talk .you').allTextContents()).toEqual(['Why batch?', 'And then?'])
    expect(stub.calls.at(-1)?.body['messages']).toHaveLength(3)
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false)
    await page.getByLabel('Cap, USD').fill('2')
    await page.getByRole('button', { name: 'Change cap' }).click()
    await page.locator('#console-key .meter', { hasText: 'of $2.00 today' }).waitFor()
    expect(service.deps.live.count()).toBe(0)
    expect((await lastRun(service)).accountId).toBe(account)
  }, 60_000)

  const shot = (name: string) =>
    process.env['SHOTS'] ? { shot: `${process.env['SHOTS']}/${name}.png` } : {}

  test.each(looks)(
    'the page has no fault: %j',
    async (look) => {
      const visit = { ...look, cookies, ...shot(`console ${lookName(look)}`) }
      expect(await inspectPage(browser, service.origin + path, visit)).toEqual([])
    },
    120_000,
  )

  test.each(looks)(
    'with an answer, and one that broke off: %j',
    async (look) => {
      const act = async (page: Page) => {
        for (const model of ['stub/speaks', 'stub/breaks']) {
          await page.getByLabel('Model', { exact: true }).selectOption(model)
          await page.getByLabel('Message').fill('Why batch receipts before a root goes on chain?')
          await page.getByRole('button', { name: 'Send' }).click()
          await state(page)
            .getByText(model === 'stub/speaks' ? 'Done' : /Not finished|Ended/)
            .waitFor()
        }
      }
      const visit = { ...look, cookies, act, ...shot(`console-2 ${lookName(look)}`) }
      const faults = await inspectPage(browser, service.origin + path, visit)
      // A run that broke off gives its page a status.
      expect(faults.filter((fault) => !fault.includes('status of 502'))).toEqual([])
    },
    120_000,
  )
})
