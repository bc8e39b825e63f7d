import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { dayMs, dayOf } from '../../src/billing/usage/usage.ts'
import { insert } from '../../src/storage/db/sql/query-steps.ts'
import { toChecksumAddress } from '../../src/verify/address.ts'
import { shortHash } from '../../src/web/ui/hash.tsx'
import { adminWorld, other } from '../front/admin/admin.ts'
import { providerKey, providerPlace } from '../front/admin/provider-place.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { modelToml, pricedBuiltins, upstreamToml } from '../support/runs.ts'
import { usd, type World } from '../support/world.ts'
import { fewLooks, inspectPage, lookName } from './support.ts'

describe.skipIf(noChromium)("the operator's pages", () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  beforeAll(async () => {
    const cost = 'cost = { input_pusd = 9_000_000, output_pusd = 900_000 }'
    const costed = `{ to = "stub:any", ${cost} }, "stub:other"`
    const stub = upstreamToml('stub', 'http://127.0.0.1:9') + modelToml('stub/dear', costed)
    const admins = await adminWorld({ toml: pricedBuiltins + stub })
    w = admins.w
    await addMargins(w)
    cookies = [...admins.own.jar].map(([name, value]) => ({ name, value }))
    browser = await startChromium()
    await w.key({ account: other, balance: 7n * usd })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  describe.each([true, false])('with scripts: %p', (javaScriptEnabled) => {
    test('an account is found, granted credit, suspended and resumed', async () => {
      const context = await browser.newContext({ javaScriptEnabled })
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      const button = (name: string) => page.getByRole('button', { name })
      await page.goto(`${w.origin}/dashboard/sessions`)
      await page.getByRole('link', { name: 'Administration' }).click()
      await page.getByRole('link', { name: 'Accounts', exact: true }).click()
      await page.getByRole('searchbox').fill(other.slice(0, 8))
      await button('Find').click()
      await page.getByRole('row').getByRole('link').click()
      const title = `Account ${shortHash(toChecksumAddress(other))}`
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()

      const before = (await w.deps.accounts.find(other))?.balance ?? 0n
      await page.getByLabel('Amount in USD').fill('2.50')
      await page.getByLabel('Reason').fill('for the outage')
      await button('Review').click()
      await button('Grant $2.50').click()
      await page.getByText('Held by runs').waitFor()
      expect((await w.deps.accounts.find(other))?.balance).toBe(before + (5n * usd) / 2n)

      for (const [verb, status] of [
        ['Suspend', 'suspended'],
        ['Resume', 'active'],
      ] as const) {
        await page.getByRole('link', { name: `${verb} this account` }).click()
        await page.getByRole('heading', { name: `${verb} this account?` }).waitFor()
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
        await page.getByLabel('Reason').fill('a look at it')
        await button(`${verb} this account`).click()
        await page.getByText('Held by runs').waitFor()
        expect((await w.deps.accounts.find(other))?.status).toBe(status)
      }

      await page.getByRole('link', { name: 'Ledger' }).click()
      await button('Audit now').click()
      await page.getByText('The ledger balances.').waitFor()
      await page.getByRole('link', { name: 'Audit log' }).click()
      await page
        .getByRole('row', { name: /account\.suspend.*a look at it/ })
        .first()
        .waitFor()
      await context.close()
    }, 60_000)
  })

  test.each([true, false])(
    'a provider is added, with scripts: %p',
    async (javaScriptEnabled) => {
      const place = providerPlace(w)
      const context = await browser.newContext({
        javaScriptEnabled,
        viewport: { width: 390, height: 800 },
      })
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      await page.goto(`${w.origin}/dashboard/admin/models`)
      await page.getByRole('link', { name: 'Add a provider' }).click()
      await page.getByRole('link', { name: 'Groq' }).click()
      await page.getByLabel('Key of Groq').fill(providerKey)
      await page.getByLabel('Another address').fill(place.at)
      await page.getByLabel('Markup in percent').fill('10')
      await page.getByRole('button', { name: 'Test the key and show models' }).click()
      await page.getByText('api_key_file').waitFor()
      expect(await page.content()).not.toContain(providerKey)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await page.getByRole('button', { name: 'Add Groq' }).click()
      await page.getByText('Provider: groq').waitFor()
      await page.goto(`${w.origin}/dashboard/admin/models`)
      await page.getByText('Configuration reloaded.').waitFor()
      expect(place.text()).toContain('id = "groq"')
      await context.close()
      place.stop()
    },
    60_000,
  )

  const pages: [name: string, path: string][] = [
    ['the status', '/dashboard/admin'],
    ['an account', `/dashboard/admin/accounts/${other}`],
    ['the audit log', '/dashboard/admin/audit-log'],
    ['the models', '/dashboard/admin/models'],
    ['all providers', '/dashboard/admin/models/add'],
    ['the form of a provider', '/dashboard/admin/models/add/azure'],
    ['the margins by model', '/dashboard/admin/margins'],
    ['the margins by account', '/dashboard/admin/margins?by=account&days=7'],
    ['a range that is none', '/dashboard/admin/margins?from=never'],
  ]
  describe.each(pages)('nothing is wrong with %s', (name, path) => {
    test.each(fewLooks.map((look) => [lookName(look), look] as const))(
      '%s',
      async (_, look) => {
        const folder = process.env['SHOTS']
        const file = `${name}-${lookName(look)}`.replaceAll(/\W+/g, '-')
        const shot = folder === undefined ? {} : { shot: `${folder}/${file}.png` }
        const visit = { ...look, cookies, ...shot }
        expect(await inspectPage(browser, w.origin + path, visit)).toEqual([])
      },
      30_000,
    )
  })
})

/** Sums of two days, one of them at a loss. */
async function addMargins({ db, deps }: World): Promise<void> {
  const today = dayOf(deps.clock.now())
  const days = [today, today - dayMs].flatMap((day) =>
    ['stub/dear', 'acme/a-model-with-quite-a-long-name-2026-11-20'].map((model, i) => ({
      day,
      model,
      accountId: other,
      runs: 1234,
      revenue: 12_345_678_901n,
      cost: i === 0 ? 23_456_789_012n : 1_000_000n,
    })),
  )
  await db.write(() => insert(db.tables.marginDays, days))
}
