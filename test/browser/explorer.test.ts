import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { scopes } from '../../src/access/keys/key.ts'
import { addReceipts, countAll } from '../billing/usage/receipts.ts'
import { addAnchors, namedKey, runOnce, shareAs } from '../front/explorer/world.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { fewLooks, inspectPage, lookName, looks } from './support.ts'

const shots = process.env['SHOTS']
const hostile = `"><img src=x onerror="alert('1')"><b>`

describe.skipIf(noChromium)('the explorer, in a real browser', () => {
  let service: World
  let empty: World
  let secret: string
  let anchorId: string
  let browser: Browser
  let context: BrowserContext
  beforeAll(async () => {
    service = await world({ toml: pricedBuiltins })
    empty = await world()
    secret = (await service.key({ balance: 10n * usd, scopes: [...scopes] })).secret
    anchorId = await fill(service, secret)
    browser = await startChromium()
  }, 60_000)
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
    await empty?.stop()
  })

  const open = async (script: boolean, address: string): Promise<Page> => {
    context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.goto(service.origin + address)
    return page
  }

  promise`C4`
  test.each(looks)(
    'the page: %#',
    async (look) => {
      const shot = shots && `${shots}/explorer-${lookName(look)}.png`
      const visit = shot ? { ...look, shot } : look
      expect(await inspectPage(browser, `${service.origin}/explorer`, visit)).toEqual([])
    },
    60_000,
  )

  const others = {
    older: () => '/explorer?after=20&window=7d',
    public: () => '/explorer?public=1',
    begun: () => '/explorer?q=rcpt_01',
    end: () => '/explorer?after=0',
    nothing: () => `/explorer?q=${encodeURIComponent(hostile)}`,
    anchor: () => `/explorer?q=${anchorId}`,
    all: () => '/explorer?window=all',
  }
  const cases = Object.keys(others).flatMap((name) => fewLooks.map((look) => ({ name, look })))
  test.each(cases)(
    '$name: %#',
    async ({ name, look }) => {
      const path = others[name as keyof typeof others]()
      const shot = shots && `${shots}/explorer-${name}-${lookName(look)}.png`
      const visit = shot ? { ...look, shot } : look
      expect(await inspectPage(browser, service.origin + path, visit)).toEqual([])
    },
    60_000,
  )

  test('an empty log says what to do next', async () => {
    for (const look of fewLooks) {
      const shot = shots && `${shots}/explorer-empty-${lookName(look)}.png`
      const visit = shot ? { ...look, shot } : look
      expect(await inspectPage(browser, `${empty.origin}/explorer`, visit)).toEqual([])
    }
  }, 60_000)

  test('new rows wait while the list is read, land when asked for, and fold with their neighbours', async () => {
    await runOnce(service, secret)
    const page = await open(true, '/explorer')
    await page.locator('#live').waitFor()
    const fold = page.locator('#results [data-fold]').first()
    await fold.locator('summary').click()
    await page.locator('#recent').scrollIntoViewIfNeeded()
    const before = Number(await fold.getAttribute('data-fold'))
    await runOnce(service, secret)
    await runOnce(service, secret)
    const button = page.getByRole('button', { name: /new/ })
    await button.getByText('2 new').waitFor({ timeout: 20_000 })
    expect(await fold.getAttribute('data-fold')).toBe(String(before))
    await button.click()
    const words = `${before + 2} private runs, counterfoil/echo-1`
    await fold.locator('summary > span').getByText(words, { exact: true }).waitFor()
    expect(await fold.locator('li').count()).toBe(before + 2)
    expect(await fold.locator('details').getAttribute('open')).not.toBeNull()
    expect(await button.isHidden()).toBe(true)
  }, 60_000)

  test('a receipt that is published comes among the slips, and states move on', async () => {
    const page = await open(true, '/explorer?public=1')
    await page.locator('#live').waitFor()
    const other = await page.context().newPage()
    await other.goto(`${service.origin}/explorer`)
    await other.locator('#live').waitFor()
    const id = await runOnce(service, secret)
    await shareAs(service, secret, id, { visibility: 'public' })
    const slip = page.locator('.stub', { has: page.locator(`a[href="/receipts/${id}"]`) })
    await slip.getByText('Signed and logged').waitFor()
    const row = other.locator('#results tr').first().locator('[data-index]').first()
    await row.getByText('Signed and logged').waitFor()
    await addAnchors(service, [await service.deps.logStore.size()])
    for (const shown of [slip, row]) await shown.getByText('Anchored').waitFor()
    await shareAs(service, secret, id, { visibility: 'private' })
    await slip.waitFor({ state: 'detached' })
  }, 60_000)

  test('an anchor says its leaves under the pointer and in focus, and leads to itself', async () => {
    const page = await open(true, '/explorer')
    const bar = page.locator('.tape a').first()
    const said = bar.locator('.said')
    const seen = () => said.evaluate((one) => getComputedStyle(one).opacity)
    expect(await seen()).toBe('0')
    await bar.hover()
    expect(await seen()).toBe('1')
    await page.mouse.move(0, 0)
    await bar.focus()
    expect(await seen()).toBe('1')
    expect(await said.textContent()).toMatch(/^Anchor of [\d,]+: \d+ leaves$/)
    await bar.press('Enter')
    await page.getByRole('heading', { name: 'Found' }).waitFor()
  }, 60_000)

  test('without script: public receipts alone, also in another window, and all again', async () => {
    const page = await open(false, '/explorer')
    await page.getByRole('link', { name: 'Public only' }).click()
    await page.waitForURL(`${service.origin}/explorer?public=1`)
    expect(await page.locator('.stub').count()).toBeGreaterThan(4)
    expect(await page.getByText(/private runs?,/).count()).toBe(0)
    await page.getByRole('link', { name: '7 days' }).click()
    await page.waitForURL(`${service.origin}/explorer?window=7d&public=1`)
    await page.getByRole('link', { name: 'Public only' }).click()
    await page
      .getByText(/private runs?,/)
      .first()
      .waitFor()
  }, 60_000)

  test('without script: a window, older ones, back, and a search that leads to a receipt', async () => {
    const id = await runOnce(service, secret)
    await shareAs(service, secret, id, { visibility: 'public' })
    const page = await open(false, '/explorer')
    await page.getByRole('link', { name: '7 days' }).click()
    await page.getByRole('heading', { name: 'Runs per hour' }).waitFor()
    await page.goto(`${service.origin}/explorer?window=7d&after=20`)
    expect(new URL(page.url()).searchParams.get('window')).toBe('7d')
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.getByRole('searchbox').fill(id)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL(`${service.origin}/receipts/${id}`)
  }, 60_000)

  test('what is private and what exists not are answered alike', async () => {
    const id = await runOnce(service, secret)
    const page = await open(true, '/explorer')
    const answers = []
    for (const asked of [id, `${id.slice(0, -2)}00`]) {
      await page.getByRole('searchbox').fill(asked)
      await page.getByRole('button', { name: 'Find' }).click()
      answers.push((await page.locator('#found').textContent())?.replace(asked, '') ?? '')
    }
    expect(answers[0]).toContain('No public match.')
    expect(answers[0]).toBe(answers[1] ?? '')
  }, 60_000)
})

/** A log of a few days with anchors, passports, public and private receipts. */
async function fill(w: World, secret: string): Promise<string> {
  const now = w.deps.clock.now()
  const issuer = w.deps.settings.issuer
  const wave = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6]
  await addReceipts(
    w,
    wave.flatMap((count, hours) =>
      Array.from({ length: count }, () => ({
        accountId: testAccount,
        keyId: 'key_1',
        issuer,
        model: 'counterfoil/echo-1',
        finishedAt: now - (hours + 1) * 3_600_000,
      })),
    ),
  )
  const harbor = await namedKey(w, 'harbor-lab', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
  const tide = await namedKey(w, 'tidepool', '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc')
  for (const [i, key] of [harbor, secret, tide, secret, harbor, tide, secret, harbor].entries()) {
    const id = await runOnce(w, key, 'one two three '.repeat(3 + 7 * i))
    if (key !== secret) await shareAs(w, key, id, { visibility: 'public' })
  }
  await countAll(w)
  const anchors = await addAnchors(w, [4, 6, 5, 7, 4, 8, 6, 7, 9, 5, 6, 7, 8, 6, 5, 8, 9])
  return anchors.at(-1)?.id ?? ''
}
