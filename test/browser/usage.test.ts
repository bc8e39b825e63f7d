import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { addReceipts, countAll, linesOf } from '../billing/usage/receipts.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { until } from '../support/runs.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { fewLooks, inspectPage, type Look, lookName, looks } from './support.ts'

const path = '/dashboard/usage'
const day = 86_400_000
const hostile = `<img src=x onerror="alert('1')"><b>`
const shots = process.env['SHOTS']

describe.skipIf(noChromium)('the usage and the settings, in a real browser', () => {
  let service: World
  let secret: string
  let browser: Browser
  let context: BrowserContext
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    service = await world()
    const { jar } = await signedIn(service)
    cookies = [...jar].map(([name, value]) => ({ name, value }))
    secret = await useSome(service)
    browser = await startChromium()
  }, 60_000)
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  const open = async (script: boolean, address: string) => {
    context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: 'reduce' })
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: service.origin })))
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(service.origin + address)
    return { page, faults }
  }

  const everyLook = {
    usage: path,
    'usage by day, key and tag': `${path}?group_by=day,key,tag`,
    settings: '/dashboard/settings',
  }
  /** Made of the same parts: two looks each show what is their own. */
  const twoLooks = {
    'usage by key': `${path}?group_by=key&days=90`,
    'usage of nothing': `${path}?from=2020-01-01&to=2020-02-01`,
    'usage refused': `${path}?days=12`,
    'usage by the hour': `${path}?days=7&metric=requests`,
    'usage by the week': `${path}?days=365&metric=tokens`,
    'waits for first tokens': `${path}?metric=first_token`,
    'fewer texts': '/dashboard/settings/retention?to=24h',
    others: '/dashboard/sessions/others',
  }
  const two = fewLooks.filter(({ script }) => script)
  const visitsOf = (pages: Record<string, string>, as: Look[]) =>
    Object.entries(pages).flatMap(([name, address]) =>
      as.map((look) => [`${name}: ${lookName(look)}`, name, address, look] as const),
    )
  const visits = [...visitsOf(everyLook, looks), ...visitsOf(twoLooks, two)]
  test.each(visits)(
    '%s',
    async (_, name, address, look) => {
      const file = `${name}-${look.width}-${look.theme}${look.script ? '' : '-bare'}`
      const shot = shots ? { shot: `${shots}/${file.replaceAll(/[ ,]+/g, '-')}.png` } : {}
      const found = await inspectPage(browser, service.origin + address, {
        ...look,
        cookies,
        ...shot,
      })
      const isRefused = name === 'usage refused'
      expect(found.filter((line) => !(isRefused && /status of 400/.test(line)))).toEqual([])
    },
    60_000,
  )

  test.each([true, false])(
    'another range, another group, and a download with the bytes of /v1 (script: %p)',
    async (script) => {
      const { page, faults } = await open(script, path)
      const apply = async () => {
        if (!script) await page.getByRole('button', { name: 'Filter', exact: true }).click()
      }
      await page.locator('select[name=days]').selectOption('90')
      await apply()
      await page.waitForURL('**days=90')
      await page.locator('select[name=group_by]').selectOption('key')
      await apply()
      await page.waitForURL('**days=90&group_by=key')
      await page.locator('select[name=days]').selectOption('dates')
      await apply()
      await page.waitForURL('**days=dates&group_by=key')
      await page.getByLabel('From').fill(dateOf(Date.now() - 10 * day))
      if (script) await page.getByLabel('From').blur()
      await apply()
      await page.waitForURL('**from=**')
      await page.locator('.fig').getByText('11 days', { exact: true }).waitFor()
      const row = page.getByRole('row', { name: hostile })
      expect(await row.getByRole('link').getAttribute('href')).toStartWith('/dashboard/runs?key=')
      await page.getByText('As a table').click()
      await page.getByRole('row', { name: 'Today' }).waitFor()
      for (const format of ['CSV', 'JSONL', 'FOCUS']) await expectTwin(page, format)
      expect(faults).toEqual([])
    },
    60_000,
  )

  test.each([true, false])(
    'a bar says its value under the pointer and in focus, and leads to the runs of its day (script: %p)',
    async (script) => {
      const { page, faults } = await open(script, `${path}?group_by=model`)
      const chart = page.locator('.chartbox')
      const legend = await chart.getByRole('list', { name: 'Colours' }).textContent()
      for (const name of ['acme/small', 'acme/large', 'acme/embed-1'])
        expect(legend).toContain(name)
      const bar = chart.locator('.chart a').nth(-3)
      const said = bar.locator('.said')
      const opacity = () => said.evaluate((one) => getComputedStyle(one).opacity)
      expect(await opacity()).toBe('0')
      // A day without a run has no bar, and the same target.
      const target = await bar.locator('.hit').boundingBox()
      expect(target?.height).toBeGreaterThan(150)
      await bar.locator('.hit').hover()
      await until('the value to be shown', async () => (await opacity()) === '1')
      expect(await said.textContent()).toMatch(/^[A-Z][a-z]{2} \d+: \$[\d.,]+$/)
      await page.mouse.move(0, 0)
      await until('the value to be hidden', async () => (await opacity()) === '0')
      await bar.focus()
      await until('the value to be shown', async () => (await opacity()) === '1')
      const date = dateOf(Date.now() - 2 * day)
      await bar.press('Enter')
      await page.waitForURL(`**/dashboard/runs?from=${date}&to=${date}`)
      expect(await page.getByLabel('From').inputValue()).toBe(date)
      expect(faults).toEqual([])
    },
    60_000,
  )

  const expectTwin = async (page: Page, format: string) => {
    const link = page.getByRole('link', { name: format, exact: true })
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
    const saved = await Bun.file((await download.path()) ?? '').text()
    expect(saved.length).toBeGreaterThan(100)
    const { search } = new URL(download.url())
    const twin = await service.call(`/v1/usage/export${search}`, { key: secret })
    expect(await twin.text()).toBe(saved)
    expect(twin.headers.get('content-disposition')).toContain(download.suggestedFilename())
  }

  test.each([true, false])(
    'texts are kept for longer at once, for less after a question (script: %p)',
    async (script) => {
      const { page, faults } = await open(script, '/dashboard/settings')
      const panel = page.getByRole('region', { name: 'Texts of your runs' })
      const now = (name: string) => panel.getByRole('listitem').filter({ hasText: name })
      await panel.getByRole('link', { name: 'Keep 24 hours' }).click()
      await page.getByRole('link', { name: 'Cancel' }).click()
      await now('30 days').getByText('Now', { exact: true }).waitFor()
      await panel.getByRole('link', { name: 'Keep none' }).click()
      await page.getByRole('button', { name: /^(Keep none|Delete the texts of)/ }).click()
      await now('Not at all').getByText('Now', { exact: true }).waitFor()
      await panel.getByRole('button', { name: 'Keep 30 days' }).click()
      await now('30 days').getByText('Now', { exact: true }).waitFor()
      await page.waitForURL(`${service.origin}/dashboard/settings`)
      expect(faults).toEqual([])
    },
    60_000,
  )

  test('colours are chosen without script, everywhere else is signed out after a question', async () => {
    const { page } = await open(false, '/dashboard/settings')
    await page.locator('main').getByRole('radio', { name: 'Dark', exact: true }).check()
    await page.getByRole('button', { name: 'Use these colours' }).click()
    await page.waitForURL('**/dashboard/settings')
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.getByRole('link', { name: 'In 2 browsers' }).click()
    await page.getByRole('link', { name: 'Sign out everywhere else' }).click()
    await page.getByText('1 session at once').waitFor()
    await page.getByRole('button', { name: 'Sign out 1 session' }).click()
    await page.waitForURL('**/dashboard/sessions')
    expect(await page.getByRole('row').count()).toBe(2)
  }, 60_000)
})

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** A browser that is signed in, and another one of the same person, who keeps texts. */
async function signedIn(service: World) {
  const [own, other] = [caller(service), caller(service)]
  await signInWith(own)
  await signInWith(other)
  await own.call('/api/portal/settings', { method: 'PATCH', json: { retention: '30d' } })
  return own
}

/** Runs of 29 days with four keys; the secret of the key above all others. */
async function useSome(w: World): Promise<string> {
  const root = await w.key({ balance: 10n * usd, name: 'research-fleet' })
  const below = await Promise.all(
    ['crawler-01', hostile, 'a'.repeat(60)].map((name) => w.key({ parentId: root.key.id, name })),
  )
  const keyIds = [root, ...below].map(({ key }) => key.id)
  const tags: Record<string, string>[] = [
    { team: 'search' },
    { team: 'search', job: hostile },
    {},
    { job: 'nightly' },
  ]
  const models = ['acme/small', 'acme/large', 'acme/embed-1']
  await addReceipts(
    w,
    Array.from({ length: 120 }, (_, i) => ({
      accountId: testAccount,
      keyId: keyIds[i % 4] ?? '',
      model: models[i % 3] ?? '',
      tags: tags[(i * 7) % 4] ?? {},
      lines: linesOf(900 * ((i * 37) % 11), 4000 * ((i * 53) % 17)),
      finishedAt: Date.now() - ((i * 13) % 29) * day - 1000,
    })),
  )
  await countAll(w)
  return root.secret
}
