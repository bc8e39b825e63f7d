import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { pricedToml } from '../front/terminal/support.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { chunkOf } from '../support/runs.ts'
import { type StubHandler, type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { type World, world } from '../support/world.ts'
import { payloads } from '../web/ui/payloads.ts'
import { inspectPage, lookName, looks } from './support.ts'

const words = ['A receipt', ' is signed', ' so that', ' you need not trust me.']

/** Says some words, or every payload, or breaks off. */
const speak: StubHandler = async ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const asked = JSON.stringify(body['messages'])
  const said = asked.includes('payloads') ? payloads.map((one) => `${one}\n`) : words
  for (const word of said) response.write(chunkOf({ content: word }))
  if (asked.includes('break')) return void response.end()
  response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
}

describe.skipIf(noChromium)('the terminal, in a real browser', () => {
  let stub: StubUpstream
  let service: World
  let browser: Browser
  let context: BrowserContext
  beforeAll(async () => {
    stub = await startStubUpstream({ handler: speak })
    const more = 'asks_per_day = 500\ndaily_budget_nusd'
    const toml = pricedToml(stub.url, 1_000_000_000).replace('daily_budget_nusd', more)
    service = await world({ toml })
    browser = await startChromium()
  }, 60_000)
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await stub?.stop()
  })

  const open = async (script: boolean, query = '') => {
    context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: 'reduce' })
    context.setDefaultTimeout(10_000)
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(`${service.origin}/terminal${query}`)
    return { page, faults }
  }
  const field = (page: Page) => page.getByLabel('Command', { exact: true })
  const enter = async (page: Page, command: string) => {
    await field(page).fill(command)
    await field(page).press('Enter')
  }
  const answers = (page: Page) => page.locator('.term .out')

  test.each([true, false])(
    'ask, open the receipt, verify it: all without an account (script: %p)',
    async (script) => {
      const { page, faults } = await open(script)
      await enter(page, 'ask Why is it signed?')
      await page.getByText('Open the receipt').waitFor()
      expect(await answers(page).last().textContent()).toStartWith(words.join(''))
      if (!script) {
        const opened = page.waitForEvent('load')
        await page.getByRole('link', { name: 'ask the server to verify it' }).click()
        await opened
        expect(await field(page).inputValue()).toMatch(/^verify rcpt_\w{26}$/)
        await page.getByRole('button', { name: 'Run' }).click()
        await page.getByText('Signed and logged').waitFor()
        expect(faults).toEqual([])
        return
      }
      await page.getByText('Your own browser checks it there.').waitFor()
      await page.getByText('Open the receipt').click()
      await page.waitForURL(/\/receipts\/rcpt_/)
      await page.locator('.stampmark').getByText('Verified').waitFor()
      expect(await page.locator('h1').count()).toBe(1)
      expect(faults).toEqual([])
    },
    60_000,
  )

  test.each([true, false])(
    'a question is asked as it is written, or with one click (script: %p)',
    async (script) => {
      const { page, faults } = await open(script)
      await enter(page, 'Why is it signed?')
      await page.getByText('Open the receipt').waitFor()
      expect(await answers(page).last().textContent()).toStartWith(words.join(''))
      const asked = page.locator('#terminal-questions button')
      expect(await asked.count()).toBe(3)
      const question = (await asked.nth(1).textContent()) ?? ''
      await asked.nth(1).click()
      await page.locator('.asked', { hasText: question }).waitFor()
      await page
        .getByText('Open the receipt')
        .nth(script ? 1 : 0)
        .waitFor()
      expect(faults).toEqual([])
    },
    60_000,
  )

  test('arrow keys go through what was written, and back to what was not sent', async () => {
    const { page } = await open(true)
    for (const command of ['help', 'status']) {
      await enter(page, command)
      await answers(page)
        .nth(command === 'help' ? 0 : 1)
        .getByText(/\S/)
        .waitFor()
      await page.locator('.screen[aria-busy="false"]').waitFor()
    }
    await field(page).fill('pri')
    const press = async (key: string) => {
      await field(page).press(key)
      return field(page).inputValue()
    }
    expect(await press('ArrowUp')).toBe('status')
    expect(await press('ArrowUp')).toBe('help')
    expect(await press('ArrowUp')).toBe('help')
    expect(await press('ArrowDown')).toBe('status')
    expect(await press('ArrowDown')).toBe('pri')
  }, 60_000)

  test('a slip is said in place and stays in the field; an answer that breaks off says so', async () => {
    const { page } = await open(true)
    await enter(page, 'hepl')
    await page.getByRole('alert').getByText('Did you mean "help"?').waitFor()
    expect(await field(page).inputValue()).toBe('hepl')
    await enter(page, 'ask break off')
    await page.getByRole('alert').nth(1).waitFor()
    expect(await answers(page).nth(1).textContent()).toBe(words.join(''))
  }, 60_000)

  test.each([true, false])(
    'what a model says is text, whatever it says (script: %p)',
    async (script) => {
      const { page, faults } = await open(script)
      await enter(page, 'ask payloads')
      await page.getByText('Open the receipt').waitFor()
      expect(await answers(page).last().textContent()).toContain('<script>alert(1)</script>')
      expect(await answers(page).locator('*').count()).toBe(0)
      expect(faults).toEqual([])
    },
    60_000,
  )

  const shot = (name: string) =>
    process.env['SHOTS'] ? { shot: `${process.env['SHOTS']}/${name}.png` } : {}

  test.each(looks)(
    'the page has no fault: %j',
    async (look) => {
      const act = async (page: Page) => {
        page.setDefaultTimeout(10_000)
        if (look.script) {
          await enter(page, 'status')
          await page.getByText('deposits').first().waitFor()
        }
        await enter(page, 'ask Why is it signed?')
        await page.getByText('Open the receipt').waitFor()
      }
      const visit = { ...look, act, ...shot(`terminal ${lookName(look)}`) }
      expect(await inspectPage(browser, `${service.origin}/terminal`, visit)).toEqual([])
    },
    120_000,
  )
})
