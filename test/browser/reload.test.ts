import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page, Request } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { scopes } from '../../src/access/keys/key.ts'
import { depositWatcher } from '../../src/billing/deposits/watch.ts'
import { issueVouchers } from '../../src/billing/vouchers/issue-vouchers.ts'
import { browser as caller, signInWith, wallet } from '../access/accounts/wallet.ts'
import { exchange, tomlOf, units } from '../billing/deposits/depositing.ts'
import { type StubChain, stubChain, transferLog } from '../billing/deposits/stub-chain.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { soldPlansToml } from '../support/plans.ts'
import { promise } from '../support/promise.ts'
import { lastRun, pricedBuiltins } from '../support/runs.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'

setDefaultTimeout(60_000)

/** A well-known test key that never signed in; its address is that of `exchange`. */
const sender = privateKeyToAccount(
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
)

describe.skipIf(noChromium)('the forms of the dashboard, in a real browser', () => {
  let chain: StubChain
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let own: ReturnType<typeof caller>
  let fleet: string
  let secret: string
  let ended: string
  let watch: () => Promise<unknown>
  beforeAll(async () => {
    chain = stubChain()
    w = await world({ toml: pricedBuiltins + soldPlansToml + tomlOf([chain.url]) })
    watch = depositWatcher(w.deps)
    // It takes what comes after its first look.
    await watch()
    own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    const cap = { balance: 500n * usd, capWindow: 'month' } as const
    const key = await w.key({ name: 'research-fleet', scopes: [...scopes], ...cap })
    fleet = key.key.id
    secret = key.secret
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    await w.call('/v1/runs', { key: key.secret, json })
    ended = (await lastRun(w)).id
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    await chain?.stop()
  })

  /** A page, and what must not be: requests that a reload sent, and addresses outside. */
  type Walk = {
    page: Page
    wrong: string[]
    go: (path: string) => Promise<unknown>
    press: (name: string | RegExp) => Promise<void>
    /** Waits for what was done, then loads the page again. */
    then: (words: string, where?: string) => Promise<void>
  }

  const forms: [what: string, walk: (w: Walk, script: boolean) => Promise<void>][] = [
    ['settings and keys', acts],
    ['passports and shares', shows],
    ['texts that are kept', texts],
    ['plans', plans],
    ['deposits', deposits],
    ['claims of deposits', claims],
    ['vouchers', vouchers],
    ['webhooks and alerts', people],
    ['members', members],
    ['the console', talks],
  ]
  /** With script the console streams its answers: it sends no form. */
  const walks = forms.flatMap(([what, walk]) =>
    [true, false]
      .filter((script) => !script || walk !== talks)
      .map((script) => [what, script, walk] as const),
  )
  promise`C21 C: A page that is loaded again sends no form: no second key, plan, run or charge.`
  test.each(walks)(
    'after every form the address is a page of the dashboard, and a reload sends nothing: %s; script: %p',
    async (_, script, walk) => {
      const context = await browser.newContext({ javaScriptEnabled: script })
      try {
        await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
        const page = await context.newPage()
        const wrong: string[] = []
        const then: Walk['then'] = async (words, where = '#toasts') => {
          await page.locator(where).getByText(words).first().waitFor()
          const { pathname } = new URL(page.url())
          if (!pathname.startsWith('/dashboard')) wrong.push(`${words} at ${pathname}`)
          const hear = (request: Request) =>
            request.method() === 'POST' && wrong.push(request.url())
          page.on('request', hear)
          await page.reload({ waitUntil: 'domcontentloaded' })
          page.off('request', hear)
          expect(await page.locator('#toasts').textContent()).toBe('')
        }
        const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
        await walk({ page, wrong, then, press, go: (path) => page.goto(w.origin + path) }, script)
        expect(wrong).toEqual([])
      } finally {
        await context.close()
      }
    },
  )

  async function acts({ go, press, then }: Walk, script: boolean): Promise<void> {
    await go('/dashboard/settings')
    await press(script ? 'Keep 24 hours' : 'Keep 30 days')
    await then('Settings saved.')
    await go(`/dashboard/keys/${fleet}`)
    await press('Pause')
    await then('Key paused.')
    await press('Resume')
    await then('Key resumed.')
    await press('Save changes')
    await then('Key saved.')
  }

  async function shows({ page, go, press, then }: Walk, script: boolean): Promise<void> {
    await go('/dashboard/passports')
    await page.getByLabel('Handle').fill(script ? 'by-script' : 'by-hand')
    await page.getByLabel('Name', { exact: true }).fill('Walker')
    await press('Create')
    await then('Passport created.')
    await press('Publish')
    await then('Passport published.')
    // The page tells once that the browser checked the receipt, which no form sends.
    const told = script ? page.waitForResponse('**/api/portal/overview/verify') : undefined
    await go(`/dashboard/receipts/rcpt_${ended.slice(4)}`)
    await told
    await press(/^(Share|Save)$/)
    await then('Receipt shared.')
    await press('Make it private')
    await then('Receipt is private again.')
  }

  /** Texts that are kept: shown by a share, hidden, then erased. */
  async function texts({ page, go, press, then }: Walk): Promise<void> {
    const kept = await own.call('/api/portal/settings', { json: { retention: '30d' } })
    expect(kept.status).toBe(200)
    const json = { model: 'counterfoil/echo-1', input: 'a text to keep' }
    await w.call('/v1/runs', { key: secret, json })
    const receipt = `/dashboard/receipts/rcpt_${(await lastRun(w)).id.slice(4)}`
    await go(receipt)
    await page.getByText('Show the texts, too').click()
    await page.getByLabel('Show the input').check()
    await press(/^(Share|Save)$/)
    await then('Receipt shared.')
    await press('Make it private')
    await then('Receipt is private again.')
    await go(`${receipt}/erase`)
    await press('Erase the texts')
    await then('Texts erased.')
    await go('/dashboard/settings/retention?to=24h')
    await press(/24 hours/)
    await then('Settings saved.')
  }

  async function plans({ page, go, press, then }: Walk, script: boolean): Promise<void> {
    const to = script ? 'Builder' : 'Scale'
    await go('/dashboard/plan')
    await press(`See what ${to} changes`)
    await then('You pay now', 'main')
    const paid = () => w.deps.accounts.find(testAccount).then((found) => found?.balance)
    await press(/^Pay /)
    await page.locator('#toasts').getByText('Plan changed.').waitFor()
    const after = await paid()
    await then('Plan changed.')
    expect(await paid()).toBe(after)
    await go('/dashboard/plan?cancel=1')
    await press(new RegExp(`^Cancel ${to}`))
    await then('Plan cancelled at the end of its period.')
    await press(`Keep ${to}`)
    await then('The plan renews again.')
  }

  async function deposits({ page, go, press, then }: Walk, script: boolean): Promise<void> {
    await go('/dashboard/deposits')
    await page.getByLabel('Amount in USD').fill('12.5')
    if (script) await page.getByLabel('Amount in USD').press('Tab')
    else await press('Use this amount')
    await page.waitForURL('**/dashboard/deposits?amount=12.5')
    await then('Add money', 'main')
  }

  async function claims({ page, go, press, then }: Walk, script: boolean): Promise<void> {
    const { hash } = chain.add([transferLog(exchange, units(script ? 7 : 8))])
    chain.mine(20)
    await watch()
    const text = `Counterfoil: credit the deposit ${hash} to ${wallet.address}`
    await go('/dashboard/deposits')
    await page.getByLabel('Transaction hash').fill(hash)
    await page.getByLabel('Signature of the text').fill(await sender.signMessage({ message: text }))
    await press('Claim the deposit')
    await then('The deposit came over to this account.')
  }

  async function vouchers({ page, go, press, then }: Walk, script: boolean): Promise<void> {
    const wish = { amount: 5n * usd, count: 1, lifeMs: 1000_000, perAccount: null, actor: 'test' }
    const { codes } = await issueVouchers(w.deps, wish)
    const balance = () => w.deps.accounts.find(testAccount).then((found) => found?.balance ?? 0n)
    const before = await balance()
    await go('/dashboard/vouchers')
    await page.getByLabel('Code').fill(codes[0] ?? '')
    await press('Redeem')
    if (script) await then('Redeemed.', 'main')
    else await then('Voucher redeemed.')
    expect((await balance()) - before).toBe(5n * usd)
  }

  /** The link of an invitation is shown once, and made once. */
  async function members({ page, go, press, then }: Walk): Promise<void> {
    const waiting = () => w.deps.members.invitations(testAccount, w.deps.clock.now())
    const before = (await waiting()).length
    await go('/dashboard/members')
    await page.getByLabel('Cap of a developer, USD').fill('5')
    await press('Create invitation link')
    await then('Send this link to one person', 'main')
    expect(await page.getByText('Send this link to one person').count()).toBe(0)
    expect((await waiting()).length).toBe(before + 1)
  }

  async function people({ page, go, press, then }: Walk, script: boolean): Promise<void> {
    await go('/dashboard/settings')
    await page.getByLabel('Tell my webhooks below').fill(script ? '3' : '4')
    await press('Save')
    await then('Settings saved.')
    await go('/dashboard/webhooks/new')
    await page.getByLabel('URL').fill('https://hooks.example/counterfoil')
    await press('Create webhook')
    await page.waitForURL('**/secret')
    await then('secret', 'main')
  }

  /** What the console answered stays, and what was asked is asked once. */
  async function talks({ page, go, press, then }: Walk): Promise<void> {
    await go('/dashboard/console')
    await page.getByLabel('Message').fill('say it once')
    await press('Send')
    await page.locator('.talk .it').waitFor()
    const before = (await lastRun(w)).id
    await then('say it once', '.talk .it')
    expect(await page.locator('.talk .it').textContent()).toBe('say it once')
    expect((await lastRun(w)).id).toBe(before)
  }
})
