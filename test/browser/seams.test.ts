import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { testAccount, type World, world } from '../support/world.ts'

setDefaultTimeout(60_000)

const form = '/dashboard/keys/new'

describe.skipIf(noChromium)('an ended session and a lost connection, in a real browser', () => {
  let w: World
  let browser: Browser
  beforeAll(async () => {
    w = await world()
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  async function signIn(context: BrowserContext, ...signer: [ReturnType<typeof stranger>?]) {
    const own = caller(w)
    await signInWith(own, ...(signer as []))
    const url = w.origin
    await context.addCookies([...own.jar].map(([name, value]) => ({ name, value, url })))
  }
  const stranger = () => privateKeyToAccount(generatePrivateKey())

  async function within(act: (page: Page, context: BrowserContext) => Promise<void>) {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(10_000)
    try {
      await signIn(context)
      await act(await context.newPage(), context)
    } finally {
      await context.close()
    }
  }
  const stored = (page: Page) => page.evaluate<string>('JSON.stringify({ ...sessionStorage })')
  const countOf = async () => (await w.deps.keys.list(testAccount, Date.now())).length

  const typeKey = async (page: Page) => {
    await page.goto(w.origin + form)
    await page.getByLabel('Name').fill('night-crawler')
    await page.getByLabel('Cap, USD').fill('2.50')
    await page.getByLabel('1 day').check({ force: true })
  }
  const create = (page: Page) => page.getByRole('button', { name: 'Create key' }).click()
  /** The session is gone; the form is sent and leads to the sign-in. */
  const loseSession = async (page: Page, context: BrowserContext) => {
    await typeKey(page)
    await context.clearCookies()
    await create(page)
    await page.getByText('What you typed is kept in this tab').waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toBe(form)
  }

  test('a form of an ended session comes back after the sign-in, and makes its key once', async () => {
    await within(async (page, context) => {
      const before = await countOf()
      await loseSession(page, context)
      await signIn(context)
      await page.reload()
      await page.waitForURL(`**${form}`)
      await page.getByText('What you typed is back.').waitFor()
      expect(await page.getByLabel('Name').inputValue()).toBe('night-crawler')
      expect(await page.getByLabel('Cap, USD').inputValue()).toBe('2.50')
      expect(await page.getByLabel('1 day').isChecked()).toBe(true)
      expect(await stored(page)).not.toContain('night-crawler')
      expect(await countOf()).toBe(before)
      await create(page)
      await page.getByLabel('Secret key').waitFor()
      expect(await countOf()).toBe(before + 1)
      expect(await stored(page)).not.toContain('night-crawler')
    })
  })

  test('a voucher code is never stored, and nothing is said to be kept then', async () => {
    await within(async (page, context) => {
      await page.goto(`${w.origin}/dashboard/vouchers`)
      const code = page.locator('input[name="code"]')
      await code.fill('SECRET-CODE-1234')
      await page.route('**/api/portal/**', (route) => route.abort())
      await code.press('Enter')
      expect(await stored(page)).not.toContain('SECRET')
      await page.goto(`${w.origin}/dashboard/settings`)
      await context.clearCookies()
      await page.reload()
      await page.waitForURL('**/signin?next=*')
      expect(await page.getByText('What you typed is kept').count()).toBe(0)
    })
  })

  test('a question of the console comes back after the sign-in', async () => {
    await within(async (page, context) => {
      await page.goto(`${w.origin}/dashboard/console`)
      await page.locator('#input').fill('What is a counterfoil?')
      await context.clearCookies()
      await page.locator('#ask').getByRole('button', { name: 'Send' }).click()
      await page.getByText('What you typed is kept in this tab').waitFor()
      await signIn(context)
      await page.reload()
      await page.waitForURL('**/dashboard/console')
      expect(await page.locator('#input').inputValue()).toBe('What is a counterfoil?')
    })
  })

  test('what was typed is never shown to another account', async () => {
    await within(async (page, context) => {
      await loseSession(page, context)
      await signIn(context, stranger())
      await page.reload()
      await page.waitForURL(`**${form}`)
      expect(await page.getByLabel('Name').inputValue()).toBe('')
      expect(await stored(page)).not.toContain('night-crawler')
    })
  })

  test('without a connection nothing was changed, and Retry sends it once there is one', async () => {
    await within(async (page, context) => {
      const before = await countOf()
      await typeKey(page)
      await context.setOffline(true)
      await create(page)
      const toast = page.getByRole('status').filter({ hasText: 'Nothing was changed.' })
      await toast.waitFor()
      expect(await page.getByLabel('Name').inputValue()).toBe('night-crawler')
      await context.setOffline(false)
      await toast.getByRole('button', { name: 'Retry' }).click()
      await page.getByLabel('Secret key').waitFor()
      expect(await countOf()).toBe(before + 1)
    })
  })

  test.each(['abort', 'gateway'])(
    'a change whose answer was lost (%s) is not said to be undone',
    async (how) => {
      await within(async (page) => {
        await typeKey(page)
        await page.route('**/api/portal/keys', (route) =>
          how === 'abort' ? route.abort() : route.fulfill({ status: 502, body: '<h1>Bad</h1>' }),
        )
        await create(page)
        await page.getByText('No answer came. It may have been done.').waitFor()
        expect(await page.getByText('Bad').count()).toBe(0)
        await page.getByRole('button', { name: 'Dismiss' }).click()
        await page.getByText('No answer came.').waitFor({ state: 'detached' })
        expect(await page.getByLabel('Name').inputValue()).toBe('night-crawler')
      })
    },
  )
})
