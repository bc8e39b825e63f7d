import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { pageRoutes, pagesOf, type ShownPage } from '../../scripts/showcase/pages.ts'
import { callAt } from '../../scripts/showcase/people.ts'
import { type Showcase, startShowcase } from '../../scripts/showcase/start.ts'
import { noAnvil } from '../contracts/anvil.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { until } from '../support/runs.ts'
import { injectWallet, signer } from './injected-wallet.ts'
import { inspectPage } from './support.ts'

setDefaultTimeout(120_000)

/** One small showcase, and the promises that every page of it must keep. */
describe.skipIf(noAnvil)('the showcase', () => {
  let showcase: Showcase
  let pages: ShownPage[]
  beforeAll(async () => {
    showcase = await startShowcase({ runs: 40, everyMs: 0 })
    pages = await pagesOf(showcase)
  }, 300_000)
  afterAll(() => showcase?.stop())

  test('the ledger of its month adds up, to the last movement', async () => {
    const { audits, clock, health } = showcase.deps
    expect(await audits.whole(clock.now())).toEqual([])
    expect(health.ledger).toBe('balanced')
  })

  test('it has runs of several models over the month, deposits, anchors and passports', async () => {
    type List<T> = { data: T[] }
    const [operator] = showcase.people
    const own = async <T>(path: string) =>
      ((await operator.portal(path)) as unknown as List<T>).data
    const shown = async <T>(path: string) =>
      ((await (await fetch(showcase.origin + path)).json()) as List<T>).data
    const runs = await own<{ model: string; created_at: string; status: string }>('/runs?limit=100')
    expect(new Set(runs.map(({ model }) => model)).size).toBeGreaterThanOrEqual(4)
    const times = runs.map(({ created_at }) => Date.parse(created_at))
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(20 * 86_400_000)
    const deposits = await own<{ status: string }>('/deposits')
    expect(deposits.map(({ status }) => status)).toEqual(['finalized', 'finalized', 'finalized'])
    const anchors = await shown<{ status: string }>('/v1/anchors')
    expect(anchors.some(({ status }) => status === 'final')).toBe(true)
    expect((await shown('/v1/passports')).length).toBe(3)
    const keys = await own<{ status: string }>('/keys?limit=100')
    expect(new Set(keys.map(({ status }) => status))).toEqual(
      new Set(['usable', 'paused', 'expired']),
    )
  })

  test('it knows an address for every page that the service has', async () => {
    const known = new Set(pages.map(({ route }) => route))
    const routes = await pageRoutes(showcase)
    expect(routes.length).toBeGreaterThan(40)
    expect(routes.filter((route) => !known.has(route))).toEqual([])
  })

  describe.skipIf(noChromium)('in a real browser', () => {
    let browser: Browser
    let cookies: { name: string; value: string }[]
    beforeAll(async () => {
      browser = await startChromium()
      cookies = (await showcase.people[0].signIn()).map((pair) => {
        const [name = '', value = ''] = pair.split('=')
        return { name, value }
      })
    })
    afterAll(() => browser?.close())

    // Each page's own tests look at it without script, in the other theme and at other widths.
    test('no page with a month of data has a fault at 320 px', async () => {
      const found: string[] = []
      for (const { name, path, isSignedIn } of pages) {
        const visit = { theme: 'light', width: 320, script: true } as const
        const jar = isSignedIn ? { cookies } : {}
        const faults = await inspectPage(browser, showcase.origin + path, { ...visit, ...jar })
        // Some say no: there is no such page, no amount to grant, nothing to resume.
        const meant = faults.filter((line) => !/status of (400|404|409)/.test(line))
        found.push(...meant.map((line) => `${name}: ${line}`))
      }
      expect(found).toEqual([])
    }, 600_000)

    test('a first-time visitor asks the terminal, and the own browser verifies the answer', async () => {
      const step = stepsOf('visitor')
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(showcase.origin)
      step('landing page')
      await page.getByRole('textbox', { name: 'Command' }).fill('ask Who signs this answer?')
      await page.getByRole('button', { name: 'Run' }).click()
      const link = page.getByRole('link', { name: 'Open the receipt' })
      await link.waitFor()
      step('answer')
      await link.click()
      await page.locator('#stamp').getByText('Verified').waitFor()
      step('verified receipt')
      await page.getByRole('link', { name: 'Connect wallet' }).first().click()
      await page.waitForURL('**/signin*')
      step('sign-in')
      await context.close()
    })

    test('a new wallet gets from the sign-in to its first verified receipt', async () => {
      const step = stepsOf('new wallet')
      const context = await browser.newContext()
      await injectWallet(context, { accounts: [signer.address.toLowerCase()] })
      const page = await context.newPage()
      const start = page.locator('#start')
      const overview = async () => {
        await page.getByRole('link', { name: 'Overview' }).first().click()
        await start.waitFor()
      }
      await page.goto(`${showcase.origin}/signin`)
      await page.getByRole('button', { name: 'Test Wallet' }).click()
      await start.waitFor()
      step('signed in')
      await start.getByRole('link', { name: 'Deposit' }).click()
      await page.waitForURL('**/dashboard/deposits')
      await showcase.chain.pay(signer.address, 5)
      await showcase.chain.mine(40)
      await page
        .getByText(/Credited|Finalized|Final/)
        .first()
        .waitFor()
      step('deposit credited')
      await overview()
      await start.getByRole('link', { name: 'Create one' }).click()
      await page.getByLabel('Name', { exact: true }).fill('first')
      await page.getByLabel('Cap, USD').fill('1')
      await page.keyboard.press('Enter')
      const secret = (await page.getByLabel('Secret key').textContent()) ?? ''
      await page.getByLabel('I have stored it somewhere safe').check()
      await page.getByRole('button', { name: 'Done' }).click()
      step('key')
      await page.goto(`${showcase.origin}/dashboard/runs`)
      // A built-in model: those of the showcase fail now and then.
      const json = { model: 'counterfoil/echo-1', input: 'What is a receipt?' }
      const answer = await callAt(showcase.origin, '/v1/runs', { key: secret, json })
      const { id, status } = await answer.json()
      expect([answer.status, status]).toEqual([200, 'succeeded'])
      await page.locator(`#${id}`).waitFor()
      step('first run, seen live')
      await overview()
      await start.getByRole('link', { name: 'Verify' }).click()
      await page.locator('#stamp').getByText('Verified').waitFor()
      step('verified receipt')
      await overviewWithoutSteps(page)
      await context.close()
    })
  })
})

/** Prints how long each step of a path took; a path that has no way on ends in a timeout. */
function stepsOf(path: string): (name: string) => void {
  let since = performance.now()
  return (name) => {
    const now = performance.now()
    console.log(`${path}: ${name} after ${Math.round(now - since)} ms`)
    since = now
  }
}

/** The first steps hide themselves once they are done. */
async function overviewWithoutSteps(page: Page): Promise<void> {
  const overview = `${new URL(page.url()).origin}/dashboard`
  // The page of the receipt tells the server by itself, just after the stamp.
  await until('the first steps to be gone', async () => {
    await page.goto(overview)
    return (await page.getByText('Get your first receipt').count()) === 0
  })
}
