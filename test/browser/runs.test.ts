import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { receiptIdOf } from '../../src/proof/receipts/receipt.ts'
import { setRetention } from '../../src/storage/texts/retain.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { lastRun, modelsToml, pricedBuiltins } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { inspectPage, lookName, looks } from './support.ts'

// A browser on a busy machine.
setDefaultTimeout(60_000)

describe.skipIf(noChromium)('overview and runs, in a real browser', () => {
  let stub: StubUpstream
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let key: { secret: string }
  let failed: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ toml: pricedBuiltins + modelsToml(stub.url, ['status-429', 'slow']) })
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    key = await w.key({ name: 'research-fleet', balance: 5n * usd })
    await w.key({ name: 'short', expiresAt: w.deps.clock.now() + 86_400_000 })
    await run('counterfoil/echo-1')
    await run('stub/status-429')
    failed = (await lastRun(w)).id
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    await stub?.stop()
  })

  const run = (model: string, more: object = {}) =>
    w.call('/v1/runs', { key: key.secret, json: { model, input: 'hello', ...more } })

  /** Does something on a page; what went wrong in it comes back. */
  async function on(path: string, script: boolean, act: (page: Page) => Promise<void>) {
    const context = await browser.newContext({ javaScriptEnabled: script, reducedMotion: 'reduce' })
    try {
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
      await page.goto(w.origin + path)
      await act(page)
      return faults
    } finally {
      await context.close()
    }
  }

  describe.each([
    ['the overview', () => '/dashboard'],
    ['the list of runs', () => '/dashboard/runs'],
    ['a list without a match', () => '/dashboard/runs?model=none'],
    ['a filter that cannot be read', () => '/dashboard/runs?from=soon'],
    ['a failed run', () => `/dashboard/runs/${failed}`],
  ])('%s', (_, path) => {
    test.each(looks.map((look) => [lookName(look), look] as const))('%s', async (_, look) => {
      const found = await inspectPage(browser, w.origin + path(), { ...look, cookies })
      // The one error that is asked for: a page that says 400.
      expect(found.filter((line) => !/status of 400/.test(line))).toEqual([])
    })
  })

  test('a run appears on the overview by itself, and the balance goes down', async () => {
    const faults = await on('/dashboard', true, async (page) => {
      const before = await page.locator('#balance data').getAttribute('value')
      await run('counterfoil/echo-1')
      const { id } = await lastRun(w)
      await page.locator(`#recent-runs a[href="/receipts/${receiptIdOf(id)}"]`).waitFor()
      // The eye sees cents; the whole value is beside them.
      await page.locator(`#balance data:not([value="${before}"])`).waitFor()
    })
    expect(faults).toEqual([])
  })

  test('new runs wait while the list is read; one in flight ends in its row', async () => {
    await run('stub/slow', { background: true })
    const { id: slow } = await lastRun(w)
    const faults = await on('/dashboard/runs', true, async (page) => {
      await page
        .locator(`#${slow}`)
        .getByText(/Running|Queued/)
        .waitFor()
      await page.locator(`#${slow}`).hover()
      await run('counterfoil/echo-1')
      const { id } = await lastRun(w)
      const news = page.getByRole('button', { name: '1 new' })
      await news.waitFor()
      expect(await page.locator(`#${id}`).count()).toBe(0)
      w.deps.live.find(slow)?.stop('cancelled')
      await page.locator(`#${slow}`).getByText('Stopped').waitFor()
      await news.click()
      await page.locator(`#${id}`).waitFor()
      await news.waitFor({ state: 'hidden' })
      expect(page.url()).toBe(`${w.origin}/dashboard/runs`)
    })
    expect(faults).toEqual([])
  })

  test.each([true, false])(
    'a run shows its conversation, as JSON too, and leads along its list, to the console and to curl (script %p)',
    async (script) => {
      await setRetention(w.deps, { account: testAccount, retention: '24h', actor: 'test' })
      const model = 'counterfoil/echo-1'
      const ask = (text: string) => {
        const messages = [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: text },
        ]
        return w.call('/v1/chat/completions', { key: key.secret, json: { model, messages } })
      }
      await ask('older **one**')
      const older = (await lastRun(w)).id
      await run('stub/status-429')
      await ask("it's the newer one")
      const newer = (await lastRun(w)).id
      const faults = await on(`/dashboard/runs?model=${model}`, script, async (page) => {
        await page.locator(`a[href^="/dashboard/runs/${older}"]`).first().click()
        await page.locator('#texts .you').getByText('older **one**').waitFor()
        expect(await page.locator('#texts .it strong').textContent()).toBe('one')
        expect(await page.locator('#texts').textContent()).toContain('Be brief.')
        await page.getByRole('link', { name: 'As JSON' }).click()
        await page.locator('#text-input').getByText('"messages"').waitFor()
        await page.getByRole('link', { name: 'As conversation' }).click()
        // The failed run between them is of another model.
        await page.getByRole('link', { name: 'Newer' }).click()
        await page.waitForURL(`**/runs/${newer}?model=*`)
        await page.getByText('The same request as curl').click()
        expect(await page.locator('#run-curl').textContent()).toContain(`it'\\''s the newer one`)
        await page.getByRole('link', { name: 'Older' }).click()
        await page.waitForURL(`**/runs/${older}?model=*`)
        expect(await page.locator('#about a[href^="/dashboard/keys/"]').count()).toBe(1)
        await page.getByRole('link', { name: 'Open in console' }).click()
        await page.getByLabel('Message').waitFor()
        expect(await page.getByLabel('Message').inputValue()).toBe('older **one**')
        expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe(model)
      })
      expect(faults).toEqual([])
    },
  )

  test.each([true, false])(
    'a run in flight is cancelled on its page, script %p',
    async (script) => {
      await run('stub/slow', { background: true })
      const { id } = await lastRun(w)
      const faults = await on(`/dashboard/runs/${id}`, script, async (page) => {
        await page.getByRole('button', { name: 'Cancel this run' }).click()
        await page.getByText('The run was cancelled').waitFor()
        expect(page.url()).toBe(`${w.origin}/dashboard/runs/${id}`)
        await page.getByRole('link', { name: 'Open receipt' }).waitFor()
      })
      expect(faults).toEqual([])
    },
  )

  test('the page of a run in flight shows its end by itself', async () => {
    await run('stub/slow', { background: true })
    const { id } = await lastRun(w)
    await on(`/dashboard/runs/${id}`, true, async (page) => {
      await page.getByRole('button', { name: 'Cancel this run' }).waitFor()
      w.deps.live.find(id)?.stop('cancelled')
      await page.getByRole('link', { name: 'Open receipt' }).waitFor()
    })
  })

  test.each([true, false])('a filter has an address of its own, script %p', async (script) => {
    await on('/dashboard/runs', script, async (page) => {
      await page.getByLabel('State').selectOption('failed')
      const send = page.getByRole('button', { name: 'Filter', exact: true })
      expect(await send.isVisible()).toBe(!script)
      if (!script) await send.click()
      // Fields that were left empty are not in the address.
      await page.waitForURL(`${w.origin}/dashboard/runs?status=failed`)
      await page.getByText('Matching runs').waitFor()
      await page.locator(`#${failed}`).waitFor()
      await page.getByRole('link', { name: 'Clear' }).click()
      await page.waitForURL(`${w.origin}/dashboard/runs`)
    })
  })

  test('the keyboard alone narrows the list, and the focus stays', async () => {
    const faults = await on('/dashboard/runs', true, async (page) => {
      await page.getByLabel('When').focus()
      await page.keyboard.press('ArrowDown')
      await page.waitForURL(/\?last=24h$/)
      await page.getByText('Matching runs').waitFor()
      await page.locator('[name="last"]:focus').waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.type(receiptIdOf(failed))
      await page.keyboard.press('Enter')
      await page.waitForURL(/id=rcpt_/)
      await page.locator('#runs tbody tr.day:first-child + tr:last-child').waitFor()
      await page.locator(`#${failed}`).waitFor()
    })
    expect(faults).toEqual([])
  })

  test('on a phone the filters stand behind one button', async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 390, height: 844 },
    })
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
    const page = await context.newPage()
    await page.goto(`${w.origin}/dashboard/runs`)
    expect(await page.getByLabel('State').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('State').selectOption('failed')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.waitForURL(`${w.origin}/dashboard/runs?status=failed`)
    await context.close()
  })

  test('the rows that are shown come as CSV', async () => {
    await on('/dashboard/runs?status=failed', true, async (page) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Export CSV' }).click(),
      ])
      const lines = (await Bun.file(await download.path()).text()).trim().split('\r\n')
      expect(lines[0]).toStartWith('run,receipt,created_at,status,model')
      const shown = await page.locator('#runs tbody tr[id]').count()
      expect(lines).toHaveLength(shown + 1)
      expect(lines.slice(1).filter((line) => line.split(',')[3] !== 'failed')).toEqual([])
      expect(lines.join('\n')).toContain(`\n${failed},${receiptIdOf(failed)},`)
    })
  })

  // Last: the steps go with it.
  test('the last of the first steps is ticked by the check of the browser itself', async () => {
    await on('/dashboard', true, async (page) => {
      const told = page.waitForResponse(/\/api\/portal\/overview\/verify$/)
      await page.locator('#start').getByRole('link', { name: 'Verify' }).click()
      await page.waitForURL(/\/receipts\/rcpt_/)
      const answer = await told
      expect(answer.request().postDataJSON()).toEqual({
        run_id: expect.stringMatching(/^run_/),
        digest: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      })
      expect(answer.status()).toBe(200)
      await page.goto(`${w.origin}/dashboard`)
      expect(await page.getByText('Get your first receipt').count()).toBe(0)
    })
  })
})
