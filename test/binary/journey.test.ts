import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { injectWallet, signer } from '../browser/injected-wallet.ts'
import { type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { noChromium, startChromium } from '../support/chromium.ts'

/** All that a person does first, in a real browser, with the executable as it is shipped. */
describe.skipIf(noBinary || noChromium)('from a wallet to a receipt that others check', () => {
  let home: Home
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    home = await makeHome()
    server = await home.start()
    const granted = await home.cli('grant', signer.address, '10.00', '--reason', 'journey')
    expect(granted).toMatchObject({ code: 0 })
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await home?.remove()
  })

  const ways: [string, script: boolean, signIn: (page: Page) => Promise<void>][] = [
    ['with script, the wallet signing', true, signInByWallet],
    ['without script, the signature pasted', false, signInByHand],
  ]
  test.each(ways)(
    '%s',
    async (_, script, signIn) => {
      const context = await browser.newContext({ javaScriptEnabled: script })
      if (script) await injectWallet(context, { accounts: [signer.address.toLowerCase()] })
      const page = await context.newPage()
      await page.goto(`${server.origin}/`)
      await page.getByRole('link', { name: 'Connect wallet' }).first().click()
      await signIn(page)
      await page.waitForURL('**/dashboard')

      const secret = await createKey(page)
      await page.goto(`${server.origin}/dashboard`)
      const id = await runOnce(secret)
      // Live where there is script; a reload shows it where there is none.
      if (!script) await page.reload()
      await page
        .locator(`#recent a[href$="${id.slice(5)}"]`)
        .first()
        .waitFor()

      await page.goto(`${server.origin}/dashboard/receipts/${id}`)
      const checkedBy = script ? 'Checked in your browser.' : 'Checked by the server.'
      await page.getByText(checkedBy).waitFor()
      expect(await page.locator('#checks .bad').count()).toBe(0)
      if (script) expect(await page.locator('#stamp').textContent()).toContain('Verified')

      await page.getByRole('button', { name: 'Share', exact: true }).click()
      const link = `${server.origin}/receipts/${id}`
      await page.getByRole('button', { name: 'Make it private' }).waitFor()
      const stranger = await browser.newContext({ javaScriptEnabled: script })
      await seesChosenSectionsOnly(stranger, link)

      await page.getByRole('button', { name: 'Make it private' }).click()
      await page.getByRole('button', { name: 'Share', exact: true }).waitFor()
      const gone = await (await stranger.newPage()).goto(link)
      expect(gone?.status()).toBe(404)
      await stranger.close()
      await context.close()
    },
    120_000,
  )

  async function runOnce(secret: string): Promise<string> {
    const client = new OpenAI({ apiKey: secret, baseURL: `${server.origin}/v1` })
    const { response } = await client.chat.completions
      .create({ model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] })
      .withResponse()
    return response.headers.get('x-receipt-id') ?? ''
  }
})

async function signInByWallet(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Test Wallet' }).click()
}

async function signInByHand(page: Page): Promise<void> {
  await page.getByLabel('Wallet address').fill(signer.address)
  await page.getByRole('button', { name: 'Show the text to sign' }).click()
  const message = (await page.locator('output').textContent()) ?? ''
  await page.getByLabel('Signature').fill(await signer.signMessage({ message }))
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Makes a key with a cap of $5; its secret is on the page this once. */
async function createKey(page: Page): Promise<string> {
  await page.goto(new URL('/dashboard/keys/new', page.url()).href)
  await page.getByLabel('Name', { exact: true }).fill('journey')
  await page.getByLabel('Cap, USD').fill('5')
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = (await page.getByLabel('Secret key').textContent()) ?? ''
  await page.goto(new URL('/dashboard/keys', page.url()).href)
  expect(await page.content()).not.toContain(secret)
  return secret
}

async function seesChosenSectionsOnly(stranger: BrowserContext, link: string): Promise<void> {
  const page = await stranger.newPage()
  expect((await page.goto(link))?.status()).toBe(200)
  const text = (await page.locator('main').textContent()) ?? ''
  expect(text).toContain('counterfoil/echo-1')
  expect(text).not.toContain(signer.address)
  expect(text).not.toContain('journey')
}
