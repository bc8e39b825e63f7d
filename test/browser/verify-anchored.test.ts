import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { noAnvil } from '../contracts/anvil.ts'
import { type Anchored, anchoredWorld } from '../proof/anchors/anchored.ts'
import { noChromium, startChromium } from '../support/chromium.ts'

describe.skipIf(noAnvil || noChromium)('/verify of a receipt that is on the chain', () => {
  let a: Anchored
  let browser: Browser
  let id = ''
  let text = ''
  beforeAll(async () => {
    a = await anchoredWorld()
    id = await a.receipts(1)
    await a.look(4)
    // The block of the anchor is final 64 blocks later.
    await a.rpc('anvil_mine', '0x80')
    await a.look(2)
    const { visibility: _, ...file } = await (
      await a.call(`/v1/receipts/${id}`, { key: a.secret })
    ).json()
    text = JSON.stringify(file)
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await a?.stop()
  })

  test.each([true, false])(
    'says Final, with script %p',
    async (javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled })
      const page = await context.newPage()
      const posted: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST') posted.push(request.postData() ?? '')
      })
      await page.goto(`${a.origin}/verify`)
      await page.getByLabel('Or paste it').fill(text)
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByRole('heading', { name: 'Final' }).waitFor()
      const hasText = javaScriptEnabled
        ? /Verified.*chain 4663/
        : /Checked by the server.*chain 4663/
      await page.locator('#stamp', { hasText }).waitFor({ state: 'attached' })
      expect(await page.locator('#checks .bad').count()).toBe(0)
      if (javaScriptEnabled) {
        // The service was asked what the chain says, and got nothing of what the receipt tells.
        expect(posted.length).toBe(1)
        expect(posted[0]).toContain(id)
        expect(posted[0]).not.toMatch(/echo-1|0xf39f|disclosures|"lines"|"salt"/i)
      }
      await context.close()
    },
    60_000,
  )
})
