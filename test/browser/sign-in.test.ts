import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { type World, world } from '../support/world.ts'
import { type Conduct, injectWallet, signer } from './injected-wallet.ts'

const inside = '/dashboard/sessions'

describe.skipIf(noChromium)('signing in, in a real browser', () => {
  let service: World
  let browser: Browser
  let context: BrowserContext
  beforeAll(async () => {
    service = await world()
    browser = await startChromium()
  }, 60_000)
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** A page at the sign-in, in a fresh context with a wallet or without. */
  const open = async (
    conduct: Conduct | undefined,
    how?: Parameters<typeof injectWallet>[2],
  ): Promise<{ page: Page; asked: string[]; faults: string[] }> => {
    context = await browser.newContext({ reducedMotion: 'reduce' })
    const { asked } = conduct ? await injectWallet(context, conduct, how) : { asked: [] }
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(`${service.origin}/signin?next=${encodeURIComponent(inside)}`)
    return { page, asked, faults }
  }
  const usual = (): Conduct => ({ accounts: [signer.address.toLowerCase()] })
  const walletButton = (page: Page) => page.getByRole('button', { name: 'Test Wallet' })

  promise`B16`
  test('a wallet signs in, the cookie is no script’s, and signing out ends it', async () => {
    const { page, asked, faults } = await open(usual())
    await walletButton(page).click()
    await page.waitForURL(`**${inside}`)
    expect(asked.slice(0, 2)).toEqual(['eth_requestAccounts', 'personal_sign'])
    const cookies = await context.cookies()
    expect(cookies.map(({ name }) => name)).toEqual(['sid'])
    expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/', secure: false })
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.getByRole('row').filter({ hasText: 'This browser' }).count()).toBe(1)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sessions')

    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await page.waitForURL('**/signin')
    expect(await context.cookies()).toEqual([])
    await page.goto(service.origin + inside)
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
      `/signin?next=${encodeURIComponent(inside)}`,
    )
    expect(faults).toEqual([])
  }, 60_000)

  test('who is signed in goes on from the sign-in at once', async () => {
    const { page } = await open(usual())
    await walletButton(page).click()
    await page.waitForURL(`**${inside}`)
    await page.goto(`${service.origin}/signin?next=${encodeURIComponent(inside)}`)
    expect(new URL(page.url()).pathname).toBe(inside)
  }, 60_000)

  const refusals: [what: string, conduct: Partial<Conduct>, words: string][] = [
    [
      'closes the request',
      { refuses: { method: 'personal_sign', code: 4001, message: 'User rejected' } },
      'You closed the request. Nothing was signed.',
    ],
    [
      'is not let in',
      { refuses: { method: 'eth_requestAccounts', code: 4001, message: 'User rejected' } },
      'You closed the request. Nothing was signed.',
    ],
    [
      'has a request open',
      { refuses: { method: 'eth_requestAccounts', code: -32002, message: 'pending' } },
      'Your wallet already has a request open.',
    ],
    [
      'breaks',
      { refuses: { method: 'personal_sign', code: -32603, message: 'internal' } },
      'Nothing was signed',
    ],
    ['is locked', { accounts: [] }, 'Your wallet is locked'],
    [
      'signs as another account than it said',
      { accounts: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'] },
      'The signature does not match.',
    ],
  ]
  test.each(refusals)(
    'a wallet that %s: it is said, and nobody is signed in',
    async (_, more, words) => {
      const { page } = await open({ ...usual(), ...more })
      await walletButton(page).click()
      const alert = page.locator('#wallet-trouble')
      await alert.filter({ hasText: words }).waitFor({ state: 'visible' })
      expect(await walletButton(page).isEnabled()).toBe(true)
      expect((await context.cookies()).some(({ name }) => name === 'sid')).toBe(false)
    },
    60_000,
  )

  test('a refused request can be made again', async () => {
    const conduct = usual()
    conduct.refuses = { method: 'personal_sign', code: 4001, message: 'User rejected' }
    const { page } = await open(conduct)
    await walletButton(page).click()
    await page.locator('#wallet-trouble').waitFor({ state: 'visible' })
    conduct.refuses = undefined
    await walletButton(page).click()
    await page.waitForURL(`**${inside}`)
  }, 60_000)

  test('without a wallet it says so, and what to do', async () => {
    const { page, faults } = await open(undefined)
    const note = page.getByText('No wallet found in this browser.')
    await note.waitFor({ state: 'visible' })
    expect(await page.getByRole('button', { name: 'Copy link' }).isVisible()).toBe(true)
    expect(await page.getByLabel('Wallet address').isVisible()).toBe(true)
    expect(faults).toEqual([])
  }, 60_000)

  test('a wallet from before EIP-6963 is found too', async () => {
    const { page } = await open(usual(), 'window.ethereum')
    await page.getByRole('button', { name: 'Browser wallet' }).click()
    await page.waitForURL(`**${inside}`)
  }, 60_000)

  test('another account in the wallet signs out; a locked wallet does not', async () => {
    const { page } = await open(usual())
    await walletButton(page).click()
    await page.waitForURL(`**${inside}`)
    await page.evaluate(`emitFromWallet('accountsChanged', [])`)
    await page.reload()
    expect(new URL(page.url()).pathname).toBe(inside)
    await page.evaluate(
      `emitFromWallet('accountsChanged', ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'])`,
    )
    await page.waitForURL('**/signin?changed=1')
    await page.getByText('You were signed out.').waitFor()
    expect(await context.cookies()).toEqual([])
  }, 60_000)

  test('names and pictures of wallets are text and pictures, whatever they hold', async () => {
    const { page, faults } = await open(usual())
    await walletButton(page).waitFor()
    await page.evaluate(`
      for (const [name, icon] of [
        ['<img src=x onerror=alert(1)>', 'javascript:alert(1)'],
        ['Far away', 'https://evil.example/icon.png'],
        ['', 'data:image/png,'],
      ]) dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: {
        info: { uuid: name, name, icon, rdns: name }, provider: { request() {} } } }))
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: null }))
    `)
    const names = await page.locator('#wallets button').allInnerTexts()
    expect(names.length).toBe(3)
    expect(names[1]).toContain('<img src=x onerror=alert(1)>')
    const sources = await page
      .locator('#wallets img')
      .evaluateAll((all) => all.map((one) => (one as HTMLImageElement).src.slice(0, 11)))
    expect(sources).toEqual(['data:image/'])
    expect(faults).toEqual([])
  }, 60_000)
})
