import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { deliverer } from '../../src/billing/webhooks/deliver.ts'
import { createWebhook, testWebhook } from '../../src/billing/webhooks/webhooks.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { until } from '../support/runs.ts'
import { testAccount, type World, world } from '../support/world.ts'
import { fewLooks, inspectPage, lookName } from './support.ts'

describe.skipIf(noChromium)('the page of a delivery', () => {
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let hook = ''
  let path = ''
  beforeAll(async () => {
    w = await world()
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    const asker = { account: testAccount, actor: testAccount }
    const url = 'https://example.com/hooks'
    hook = (await createWebhook(w.deps, asker, { url })).row.id
    const { id } = await testWebhook(w.deps, asker, hook)
    path = `/dashboard/webhooks/${hook}/deliveries/${id}`
    w.deps.postChecked = async () => ({ status: 503, answer: 'The queue is full. '.repeat(10) })
    const tick = deliverer(w.deps)
    const ending = new AbortController()
    await until('an attempt', async () => {
      await tick(ending.signal)
      return (await w.deps.webhooks.delivery(hook, id))?.attempts === 1
    })
    ending.abort()
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
  })

  test.each(fewLooks.map((look) => [lookName(look), look] as const))(
    'is sound: %s',
    async (_, look) => {
      expect(await inspectPage(browser, w.origin + path, { ...look, cookies })).toEqual([])
    },
    60_000,
  )

  test('is opened by its row in the list of the webhook, and shows the attempt', async () => {
    const context = await browser.newContext()
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
    const page = await context.newPage()
    await page.goto(`${w.origin}/dashboard/webhooks/${hook}`)
    await page.locator('#sent').getByRole('link', { name: 'webhook.test' }).click()
    await page.waitForURL(`**${path}`)
    await page.locator('#attempts').getByText('The queue is full.').waitFor()
    await page.locator('#attempts .st', { hasText: '503' }).waitFor()
    await page.locator('#payload').getByText('webhook.test').waitFor()
    await context.close()
  }, 60_000)
})
