import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { type World, world } from '../support/world.ts'
import { signer } from './injected-wallet.ts'
import { inspectPage, type Look, lookName, looks } from './support.ts'

const inside = '/dashboard/sessions'

describe.skipIf(noChromium)('signing in by hand', () => {
  let service: World
  let browser: Browser
  let context: BrowserContext | undefined
  beforeAll(async () => {
    service = await world()
    browser = await startChromium()
  }, 60_000)
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  const open = async (): Promise<Page> => {
    context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${service.origin}/signin?next=${encodeURIComponent(inside)}`)
    return page
  }
  /** To the page that shows the text, which it answers. */
  const askText = async (page: Page): Promise<string> => {
    await page.getByLabel('Wallet address').fill(signer.address)
    await page.getByRole('button', { name: 'Show the text to sign' }).click()
    await page.getByRole('heading', { name: 'Sign this text' }).waitFor()
    return (await page.locator('output').textContent()) ?? ''
  }
  const paste = async (page: Page, signature: string) => {
    await page.getByLabel('Signature').fill(signature)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const signIn = async (page: Page) => {
    const message = await askText(page)
    await paste(page, `${await signer.signMessage({ message })}\n`)
    await page.waitForURL(`**${inside}`)
  }

  promise`C20 H: Without script every task but the wallet’s signature can be done.`
  test('without script a pasted signature signs in, and a button signs out', async () => {
    const page = await open()
    await signIn(page)
    await page.getByText('This browser').waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await page.waitForURL('**/signin')
    expect(await context?.cookies()).toEqual([])
  }, 60_000)

  test('what does not fit is said on the page, with its true status, and can be done again', async () => {
    const page = await open()
    await page.getByLabel('Wallet address').fill('0x12')
    const [refused] = await Promise.all([
      page.waitForResponse('**/api/auth/nonce'),
      page.getByRole('button', { name: 'Show the text to sign' }).click(),
    ])
    expect(refused.status()).toBe(400)
    await page.getByRole('alert').getByText('40 hex digits').waitFor()

    await askText(page)
    const [denied] = await Promise.all([
      page.waitForResponse('**/api/auth/verify'),
      paste(page, `0x${'11'.repeat(65)}`),
    ])
    expect(denied.status()).toBe(403)
    await page.getByRole('alert').getByText('does not match').waitFor()
    await signIn(page)
  }, 60_000)

  test('a session ends from the list of another one, without script', async () => {
    const page = await open()
    await signIn(page)
    const other = await browser.newContext({ javaScriptEnabled: false })
    const there = await other.newPage()
    await there.goto(`${service.origin}/signin?next=${encodeURIComponent(inside)}`)
    await signIn(there)
    await page.reload()
    await page.getByRole('row').getByRole('button', { name: 'Sign out' }).first().click()
    await page.waitForURL(`**${inside}`)
    await there.reload()
    expect(new URL(there.url()).pathname).toBe('/signin')
    await other.close()
  }, 60_000)

  promise`B17`
  test('a page on another port of this host can do nothing with the cookie', async () => {
    const page = await open()
    await signIn(page)
    const stranger = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(
          `<form method=post action="${service.origin}/api/auth/logout"><button>Go</button></form>`,
          { headers: { 'content-type': 'text/html' } },
        ),
    })
    const attacked = await page.context().newPage()
    await attacked.goto(`http://localhost:${stranger.port}/`)
    const [sent, answer] = await Promise.all([
      attacked.waitForRequest('**/api/auth/logout'),
      attacked.waitForResponse('**/api/auth/logout'),
      attacked.getByRole('button').click(),
    ])
    // The cookie did come along: SameSite knows no ports.
    expect((await sent.allHeaders())['cookie']).toContain('sid=')
    expect(answer.status()).toBe(403)
    stranger.stop(true)
    await page.reload()
    expect(new URL(page.url()).pathname).toBe(inside)
  }, 60_000)

  describe('the pages have no fault', () => {
    let cookies: { name: string; value: string }[]
    beforeAll(async () => {
      const page = await open()
      await signIn(page)
      cookies = (await context?.cookies())?.map(({ name, value }) => ({ name, value })) ?? []
    }, 60_000)

    const name = (page: string, look: Look) =>
      process.env['SHOTS'] ? { shot: `${process.env['SHOTS']}/${page} ${lookName(look)}.png` } : {}

    promise`C4`
    test.each(looks)(
      'the sign-in: %j',
      async (look) => {
        const url = `${service.origin}/signin`
        expect(await inspectPage(browser, url, { ...look, ...name('signin', look) })).toEqual([])
      },
      120_000,
    )

    test.each(looks)(
      'the text to sign: %j',
      async (look) => {
        const act = async (page: Page) => void (await askText(page))
        const visit = { ...look, ...name('signin-2', look), act }
        expect(await inspectPage(browser, `${service.origin}/signin`, visit)).toEqual([])
      },
      120_000,
    )

    test.each(looks)(
      'the sessions: %j',
      async (look) => {
        const visit = { ...look, ...name('sessions', look), cookies }
        expect(await inspectPage(browser, service.origin + inside, visit)).toEqual([])
      },
      120_000,
    )
  })
})
