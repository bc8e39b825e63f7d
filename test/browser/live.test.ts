import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext } from 'playwright-core'
import { rows as run } from '../../src/storage/db/sql/query-steps.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { addReceipts } from '../billing/usage/receipts.ts'
import { addAnchors } from '../front/explorer/world.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { type SharingWorld, sharingWorld } from '../support/sharing.ts'
import { testAccount } from '../support/world.ts'

describe.skipIf(noChromium)('live means live', () => {
  let s: SharingWorld
  let browser: Browser
  let context: BrowserContext | undefined
  let cookies: { name: string; value: string; url: string }[] = []
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    const own = caller(s.w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value, url: s.w.origin }))
    await s.ask('first')
    browser = await startChromium()
  }, 60_000)
  afterEach(async () => {
    await context?.close()
    context = undefined
  })
  afterAll(async () => {
    await browser?.close()
    await s?.w.stop()
  })
  const open = async () => {
    context = await browser.newContext({ timezoneId: 'Asia/Tokyo' })
    await context.addCookies(cookies)
    return context.newPage()
  }

  test('relative times tick, and say UTC and the local time to who points at them', async () => {
    const page = await open()
    await page.clock.install()
    await page.goto(`${s.w.origin}/dashboard/receipts`)
    const time = page.locator('#receipts time').first()
    await page.clock.fastForward(2 * 60_000)
    expect(await time.textContent()).toMatch(/^[23] min ago$/)
    await time.hover()
    expect(await time.getAttribute('title')).toMatch(/UTC\n.+GMT\+9, local$/)
  }, 60_000)

  promise`C19 H: Open lists show what is new and move states on by themselves, without a jump.`
  test.each(['runs', 'receipts'])(
    'new %s land by themselves, and wait while the list is read',
    async (list) => {
      const page = await open()
      await page.goto(`${s.w.origin}/dashboard/${list}`)
      await page.locator('#live').waitFor()
      const rowOf = (id: string) =>
        page.locator(`#${list === 'runs' ? id.replace(/^rcpt/, 'run') : id}`)
      const first = await s.ask(`lands in ${list}`)
      await rowOf(first).waitFor()
      expect(await page.locator('#fresh').isHidden()).toBe(true)
      await rowOf(first).hover()
      const topOf = async () => (await rowOf(first).boundingBox())?.y
      const before = await topOf()
      const second = await s.ask(`waits in ${list}`)
      await page.getByRole('button', { name: '1 new' }).waitFor()
      expect(await topOf()).toBe(before)
      expect(await rowOf(second).count()).toBe(0)
      await page.locator('h1').hover()
      await rowOf(second).waitFor()
      expect(await page.locator('tbody tr[id]').first().getAttribute('id')).toContain(
        second.slice(5),
      )
    },
    60_000,
  )

  promise`C19`
  test.each(['runs', 'receipts'])(
    'more than fifty new %s between two looks are counted and loaded in place',
    async (list) => {
      const page = await open()
      await page.goto(`${s.w.origin}/dashboard/${list}`)
      await page.locator('#live').waitFor()
      await page.evaluate(() => Object.assign(window, { isSame: true }))
      await page.locator('tbody tr[id]').first().hover()
      const accountId = testAccount
      const finishedAt = s.w.deps.clock.now()
      const keyId = s.key.id
      const wish = { accountId, keyId, finishedAt, issuer: s.w.deps.settings.issuer }
      const made = await addReceipts(
        s.w,
        Array.from({ length: 60 }, () => wish),
      )
      await page.getByRole('button', { name: '60 new' }).click()
      const ids = made.map(({ id }) => id.replace('run_', '')).sort()
      const newest = page.locator('tbody tr[id]').first()
      await page.locator(`tbody tr[id$="${ids.at(-1)}"]`).waitFor()
      expect(await newest.getAttribute('id')).toContain(ids.at(-1) ?? 'none')
      expect(await page.evaluate(() => 'isSame' in window)).toBe(true)
      // The list that came is live too.
      await page.locator('h1').hover()
      const after = await s.ask(`after sixty ${list}`)
      await page.locator(`tbody tr[id$="${after.slice(5)}"]`).waitFor()
    },
    60_000,
  )

  test('the time line of a run is there once it ended, and its receipt moves on by itself', async () => {
    const id = await s.ask('a time line')
    const page = await open()
    await page.goto(`${s.w.origin}/dashboard/runs/${id.replace('rcpt_', 'run_')}`)
    const phases = page.locator('.phases li')
    expect(await phases.count()).toBeGreaterThan(2)
    const words = (await phases.allTextContents()).join(' ')
    for (const phase of ['Queued', 'First byte', 'Streaming', 'Settled']) {
      expect(words.toLowerCase()).toContain(phase.toLowerCase())
    }
    const main = page.locator('main')
    await main.getByText('Signed and logged').first().waitFor()
    await addAnchors(s.w, [await s.w.deps.logStore.size()])
    await main.getByText('Anchored').first().waitFor()
  }, 60_000)

  promise`C19`
  test('states move on by themselves, from logged to anchored to final', async () => {
    const id = await s.ask('moves on')
    const page = await open()
    const other = await page.context().newPage()
    await page.goto(`${s.w.origin}/dashboard/runs`)
    await other.goto(`${s.w.origin}/dashboard/receipts`)
    const rows = [page, other].map((one) => one.locator('tbody tr[id]').first())
    for (const row of rows) {
      expect(await row.textContent()).toContain('Signed and logged')
      expect(await row.getAttribute('id')).toContain(id.slice(5))
    }
    await addAnchors(s.w, [await s.w.deps.logStore.size()])
    for (const row of rows) await row.getByText('Anchored').waitFor()
    const { anchors } = s.w.db.tables
    await s.w.db.write((q) => run(q.update(anchors).set({ status: 'final' }).returning()))
    for (const row of rows) await row.getByText('Final').waitFor()
  }, 60_000)

  test.each(['no-preference', 'reduce'] as const)(
    'the stub of a run tears off within 400 ms, motion: %p',
    async (reducedMotion) => {
      context = await browser.newContext({ reducedMotion })
      const page = await context.newPage()
      await page.goto(`${s.w.origin}/terminal`)
      await page.getByRole('textbox', { name: 'Command' }).fill('ask Who signs?')
      await page.getByRole('button', { name: 'Run' }).click()
      const stub = page.locator('.term .torn')
      await stub.getByRole('link', { name: 'Open the receipt' }).waitFor()
      const endsAt = await stub.evaluate((one) => {
        const { animationDelay, animationDuration, animationName } = getComputedStyle(one)
        if (animationName === 'none') return 0
        const [delays = [], durations = []] = [animationDelay, animationDuration].map((all) =>
          all.split(',').map((part) => Number.parseFloat(part) * 1000),
        )
        return Math.max(...durations.map((duration, i) => duration + (delays[i] ?? 0)))
      })
      expect(endsAt).toBeLessThan(400)
      expect(endsAt > 0).toBe(reducedMotion === 'no-preference')
    },
    60_000,
  )

  test.each(['no-preference', 'reduce'] as const)(
    'the digits of the balance that changed roll, motion: %p',
    async (reducedMotion) => {
      context = await browser.newContext({ reducedMotion })
      await context.addCookies(cookies)
      const page = await context.newPage()
      await page.goto(`${s.w.origin}/dashboard`)
      const balance = page.locator('#balance')
      await page.locator('.spine').waitFor()
      const change = (text: string) =>
        page.evaluate(`document.getElementById('balance').innerHTML = '<data>${text}</data>'`)
      await change('$12.34')
      await change('$12.29')
      const rolled = await balance.locator('.rolled').allTextContents()
      expect(rolled).toEqual(reducedMotion === 'reduce' ? [] : ['2', '9'])
      expect(await balance.textContent()).toBe('$12.29')
    },
    60_000,
  )
})
