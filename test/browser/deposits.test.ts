import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { ask, openUsdChain, type UsdChain } from '../billing/deposits/anvil-deposits.ts'
import {
  alice,
  type Depositing,
  depositingWorld,
  units,
  untilSo,
} from '../billing/deposits/depositing.ts'
import { treasury } from '../billing/deposits/stub-chain.ts'
import { noAnvil } from '../contracts/anvil.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { type Conduct, injectWallet } from './injected-wallet.ts'
import { inspectPage, lookName, looks } from './support.ts'

const path = '/dashboard/deposits'
/** What the wallet asks the chain itself. */
const passedOn = ['eth_sendTransaction', 'eth_getTransactionReceipt']
const shots = process.env['SHOTS']
const from = alice as `0x${string}`
/** The third well-known test key. */
const other = privateKeyToAccount(
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
)

describe.skipIf(noChromium || noAnvil)('deposits, in a real browser on a real chain', () => {
  let chain: UsdChain
  let w: Depositing
  let browser: Browser
  let context: BrowserContext | undefined
  let cookies: { name: string; value: string }[]
  let stopped = false
  beforeAll(async () => {
    chain = await openUsdChain('--block-time', '0.1')
    w = await depositingWorld({ url: chain.url, toml: chain.toml })
    for (const account of [from, other.address]) {
      await chain.usd.send(account, 'mint', account, units(10_000))
    }
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    await chain.usd.send(from, 'transfer', treasury, units(41.5))
    browser = await startChromium()
    void watching()
    await untilSo(async () => (await w.states()).join() === 'finalized 41', 20_000)
  }, 60_000)
  afterEach(async () => {
    await context?.close()
    context = undefined
  })
  afterAll(async () => {
    stopped = true
    await browser?.close()
    await w?.stop()
    await chain?.stop()
  })
  async function watching(): Promise<void> {
    while (!stopped) {
      await w.look().catch(() => {})
      await Bun.sleep(200)
    }
  }

  /** A wallet that is on a chain and knows some, and sends what it is asked to. */
  const walletOn = (current: number, known: number[], accounts: string[] = [alice]): Conduct => {
    const state = { current, known }
    return {
      accounts,
      answers: async (method, params) => {
        const [first] = params as Record<string, string>[]
        if (method === 'eth_chainId') return { result: `0x${state.current.toString(16)}` }
        if (method === 'wallet_switchEthereumChain') {
          const wanted = Number(first?.['chainId'])
          if (!state.known.includes(wanted)) return { error: { code: 4902, message: 'unknown' } }
          state.current = wanted
          return { result: null }
        }
        if (method === 'wallet_addEthereumChain') {
          state.known.push(Number(first?.['chainId']))
          return { result: null }
        }
        if (!passedOn.includes(method)) return undefined
        return ask(chain.url, method, params).then(
          (result) => ({ result }),
          ({ code, message }) => ({ error: { code, message } }),
        )
      },
    }
  }

  const open = async (conduct: Conduct | undefined, script = true) => {
    context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: 'reduce' })
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
    const { asked } = conduct ? await injectWallet(context, conduct) : { asked: [] }
    const page = await context.newPage()
    await page.goto(w.origin + path)
    return { page, asked }
  }
  const send = async (page: Page, amount: string) => {
    await page.getByLabel('Amount in USD').fill(amount)
    await page.getByRole('button', { name: 'Deposit with wallet' }).click()
  }
  const said = (page: Page) => page.locator('#wallet-said')

  test.each(looks.map((look) => [lookName(look), look] as const))(
    'the page: %s',
    async (_, look) => {
      const file = `deposits-${look.width}-${look.theme}${look.script ? '' : '-bare'}`
      const shot = shots ? { shot: `${shots}/${file}.png` } : {}
      const found = await inspectPage(browser, `${w.origin}${path}?amount=25`, {
        ...look,
        cookies,
        ...shot,
      })
      expect(found).toEqual([])
    },
    60_000,
  )

  test('a wallet to which the chain is new learns of it and sends; the page tells all states', async () => {
    const { page, asked } = await open(walletOn(1, [1]))
    await send(page, '12.50')
    await page.getByText(/^Sent: 0x/).waitFor()
    expect(asked).toContain('wallet_addEthereumChain')
    await page.getByRole('row').filter({ hasText: '$12.50' }).filter({ hasText: 'Final' }).waitFor()
    expect(await w.balance(alice)).toBe(54)
  }, 60_000)

  test.each([
    ['the wallet is on another account', walletOnOther, /which is another account here/],
    ['the request is closed', walletThatCloses, 'You closed the request. Nothing was sent.'],
    ['the chain fails the transfer', walletThatIsPoor, 'The transfer failed on the chain.'],
  ] as const)(
    'when %s it says so, and nothing was sent',
    async (_, conduct, words) => {
      const before = (await w.all()).length
      const { page } = await open(conduct(walletOn))
      await send(page, conduct === walletThatIsPoor ? '20000' : '5')
      await said(page).filter({ hasText: words }).waitFor()
      expect((await w.all()).length).toBe(before)
    },
    60_000,
  )

  test('without an amount it asks for one; without a wallet there is no button', async () => {
    const { page, asked } = await open(walletOn(4663, [4663]))
    await send(page, '')
    await said(page).filter({ hasText: 'Enter an amount' }).waitFor()
    expect(asked).not.toContain('eth_sendTransaction')
    await context?.close()
    const bare = await open(undefined)
    expect(await bare.page.getByRole('button', { name: 'Deposit with wallet' }).count()).toBe(0)
  }, 60_000)

  test('there is one button that sends: by the wallet, or else by a link with the amount', async () => {
    const { page } = await open(walletOn(4663, [4663]))
    await page.getByRole('button', { name: 'Deposit with wallet' }).waitFor()
    const link = page.getByRole('link', { name: 'Open in a wallet app' })
    const taken = page.getByRole('button', { name: 'Use this amount' })
    expect([await link.count(), await taken.count()]).toEqual([0, 0])
    await context?.close()

    const bare = await open(undefined)
    const app = bare.page.getByRole('link', { name: 'Open in a wallet app' })
    await bare.page.getByLabel('Amount in USD').pressSequentially('7.5')
    expect(await app.getAttribute('href')).toEndWith('&uint256=7500000')
    await bare.page.getByLabel('Amount in USD').press('Tab')
    await bare.page.waitForURL(`**${path}?amount=7.5`)
    expect(await app.getAttribute('href')).toEndWith('&uint256=7500000')
    const code = bare.page.locator('svg.qr')
    expect(await code.getAttribute('aria-label')).toContain('of $7.50')
    await bare.page.getByLabel('Amount in USD').pressSequentially('x')
    expect(await app.getAttribute('href')).not.toContain('uint256')
  }, 60_000)

  test('the coin is called what the token calls itself', async () => {
    const { page } = await open(undefined)
    await page.getByText('USDX, US dollars as a stablecoin').waitFor()
  }, 60_000)

  promise`C20`
  test('without script an amount is put into the code, and another wallet’s deposit is claimed', async () => {
    const { transactionHash } = await chain.usd.send(other.address, 'transfer', treasury, units(3))
    await untilSo(async () => (await w.balance(other.address.toLowerCase())) === 3)
    const { page } = await open(undefined, false)
    await page.getByLabel('Amount in USD').fill('30')
    await page.getByRole('button', { name: 'Use this amount' }).click()
    await page.waitForURL(`**${path}?amount=30`)
    const link = page.getByRole('link', { name: 'Open in a wallet app' })
    expect(await link.getAttribute('href')).toEndWith('&uint256=30000000')
    const text = (await page.locator('#claim-text').textContent()) ?? ''
    const message = text.replace('0x<transaction hash>', transactionHash)
    await page.getByLabel('Transaction hash').fill(transactionHash)
    await page.getByLabel('Signature of the text').fill(await other.signMessage({ message }))
    await page.getByRole('button', { name: 'Claim the deposit' }).click()
    await page.getByRole('row').filter({ hasText: '$3.00' }).waitFor()
    expect(await w.balance(other.address.toLowerCase())).toBe(0)
  }, 60_000)
})

type WalletOn = (current: number, known: number[], accounts?: string[]) => Conduct

function walletOnOther(walletOn: WalletOn): Conduct {
  return walletOn(4663, [4663], [other.address])
}

function walletThatCloses(walletOn: WalletOn): Conduct {
  const refuses = { method: 'eth_sendTransaction', code: 4001, message: 'User rejected' }
  return { ...walletOn(4663, [4663]), refuses }
}

function walletThatIsPoor(walletOn: WalletOn): Conduct {
  return walletOn(4663, [4663])
}
