import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { noChromium, startChromium } from '../support/chromium.ts'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { bodyOf, type SharingWorld, sharingWorld } from '../support/sharing.ts'
import { someMutants } from '../verify/mutants.ts'
import { witnessedFile } from '../verify/witness-samples.ts'
import {
  dearReceipt,
  names,
  policyText,
  quote,
  quoteFile,
  receiptFor,
  signersOnly,
} from './beside.ts'
import { inspectPage, lookName, looks } from './support.ts'

describe.skipIf(noChromium)('pages for everybody in Chromium', () => {
  let s: SharingWorld
  let browser: Browser
  let id = ''
  let text = ''
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-public-'))
  const file = join(folder, 'r.json')
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    id = await s.ask('a secret question')
    const texts = { input: { value: bodyOf('a secret question') } }
    await s.share(id, { visibility: 'public', reveal: ['input'], disclosures: texts })
    text = JSON.stringify(await s.shown(id))
    writeFileSync(file, text)
    browser = await startChromium()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await s?.w.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const visit = async (script: boolean, act: (page: Page, posted: string[]) => Promise<void>) => {
    const context = await browser.newContext({ javaScriptEnabled: script })
    const page = await context.newPage()
    const posted: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') posted.push(request.postData() ?? '')
    })
    await page.goto(`${s.w.origin}/verify`)
    await act(page, posted)
    await context.close()
  }
  const verdictIn = async (page: Page) => {
    await page.locator('#result').waitFor()
    return page.locator('#result h2').textContent()
  }

  describe('/verify', () => {
    test('a file that is chosen is checked here: nothing of it is sent', async () => {
      await visit(true, async (page, posted) => {
        await page.getByLabel('Drop a receipt file here').setInputFiles(file)
        expect(await verdictIn(page)).toBe('Signed and logged')
        await page.getByText('Checked in your browser.').last().waitFor()
        await page.locator('#stamp', { hasText: 'Verified' }).waitFor()
        expect(await page.locator('#checks').textContent()).toContain('Shown text is the one')
        expect(posted).toEqual([])
      })
    }, 60_000)

    test('one that is dropped is checked, and a changed one is not valid', async () => {
      await visit(true, async (page, posted) => {
        const drop = (content: string) =>
          page.evaluate((given) => {
            const carried = new DataTransfer()
            carried.items.add(new File([given], 'r.json'))
            const event = new DragEvent('drop', { dataTransfer: carried, bubbles: true })
            document.getElementById('drop')?.dispatchEvent(event)
          }, content)
        await drop(text)
        expect(await verdictIn(page)).toBe('Signed and logged')
        await drop(text.replace(/"durationMs":"\d+"/, '"durationMs":"987654"'))
        await page.getByRole('heading', { name: 'Not valid' }).waitFor()
        const wrong = await page.locator('#checks .bad').first().textContent()
        expect(wrong).toMatch(/A field was changed.*expected 0x\w+ .*found 0x/)
        await page.locator('#stamp', { hasText: 'Not valid' }).waitFor()
        expect(posted).toEqual([])
      })
    }, 60_000)

    promise`G14`
    test.each([true, false])(
      'a file with a member added, or with one that stands twice, is not valid, script %p',
      async (script) => {
        await visit(script, async (page) => {
          const some = script ? nightly(20, 40) : nightly(5, 10)
          for (const { name, text: mutant } of someMutants([JSON.parse(text)], some)) {
            await page.goto(`${s.w.origin}/verify`)
            await page.getByLabel('Or paste it').fill(mutant)
            await page.getByRole('button', { name: 'Verify' }).click()
            const told = page.locator('#result h2, #text-error:not(:empty)')
            await told.waitFor()
            expect([name, await told.textContent()]).toEqual([
              name,
              expect.stringMatching(/^(Not valid|This is not a receipt file: .*)$/),
            ])
            expect(await page.locator('.stampmark:not(.bad)').count()).toBe(0)
          }
        })
      },
      120_000,
    )

    test('named signers take the place of those of this service', async () => {
      await visit(true, async (page) => {
        await page.getByText('From another service?').click()
        await page.getByLabel('Which signers do you trust?').fill(`0x${'1'.repeat(40)}`)
        await page.getByLabel('Or paste it').fill(text)
        await page.getByRole('button', { name: 'Verify' }).click()
        expect(await verdictIn(page)).toBe('Not valid')
      })
    }, 60_000)

    test.each([true, false])(
      'a policy names whom its reader trusts, and a quote has to be kept, script %p',
      async (script) => {
        await visit(script, async (page, posted) => {
          const check = async (fields: { receipt: unknown; quote?: unknown; policy: string }) => {
            await page.goto(`${s.w.origin}/verify`)
            await page.getByText('A quote, evidence or a policy?').click()
            await page.getByLabel('Policy: whom you trust').fill(fields.policy)
            const quoted = fields.quote === undefined ? '' : JSON.stringify(fields.quote)
            await page.getByLabel('Quote that was promised').fill(quoted)
            await page.getByLabel('Or paste it').fill(JSON.stringify(fields.receipt))
            await page.getByRole('button', { name: 'Verify' }).click()
          }
          await check({ receipt: witnessedFile(), policy: policyText })
          await page.getByText(`Evidence: signed, logged, witnessed by ${names}.`).waitFor()
          expect(await verdictIn(page)).toBe('Signed and logged')
          const policy = signersOnly
          await check({ receipt: receiptFor(quote), quote: quoteFile(quote), policy })
          await page.locator('#checks', { hasText: 'Quote was kept' }).waitFor()
          await check({ receipt: dearReceipt, quote: quoteFile(quote), policy })
          await page.getByRole('heading', { name: 'Not valid' }).waitFor()
          expect(await page.locator('#checks').textContent()).toContain('The quote was not kept')
          await check({ receipt: dearReceipt, policy: '{"type": "counterfoil.policies"}' })
          await page.getByText('This is not a policy: ').waitFor()
          if (script) expect(posted).toEqual([])
        })
      },
      60_000,
    )

    test.each([true, false])(
      'what is no receipt is said at the field, script %p',
      async (script) => {
        await visit(script, async (page) => {
          const field = page.getByLabel('Or paste it')
          await field.fill('<b>junk</b>')
          await page.getByRole('button', { name: 'Verify' }).click()
          await page.getByText('This is neither a receipt file nor').waitFor()
          expect(await field.getAttribute('aria-invalid')).toBe('true')
          expect(await field.inputValue()).toBe('<b>junk</b>')
        })
      },
      60_000,
    )

    test.each([true, false])(
      'an id leads to the receipt, script %p',
      async (script) => {
        await visit(script, async (page) => {
          await page.getByLabel('Or paste it').fill(id)
          await page.getByRole('button', { name: 'Verify' }).click()
          await page.waitForURL(`${s.w.origin}/receipts/${id}`)
        })
      },
      60_000,
    )

    test('without script a chosen file is sent, and this service judges', async () => {
      await visit(false, async (page) => {
        await page.getByLabel('Drop a receipt file here').setInputFiles(file)
        await page.getByRole('button', { name: 'Verify' }).click()
        expect(await verdictIn(page)).toBe('Signed and logged')
        await page.getByText('Checked by the server.').waitFor()
        expect(await page.locator('#stamp').textContent()).toMatch(/^Checked by the server/)
      })
    }, 60_000)

    const judged = looks.map((look) => [lookName(look), look] as const)
    test.each(judged)(
      'nothing is wrong with a verdict, %s',
      async (_, look) => {
        const act = async (page: Page) => {
          await page.getByLabel('Or paste it').fill(text)
          await page.getByRole('button', { name: 'Verify' }).click()
          await page.locator('#result').waitFor()
        }
        const found = await inspectPage(browser, `${s.w.origin}/verify`, { ...look, act })
        // What comes below after a click moves nothing but the foot of the page.
        expect(found.filter((line) => !line.startsWith('layout shifted'))).toEqual([])
      },
      60_000,
    )
  })

  test('on a phone the menu opens without script', async () => {
    const viewport = { width: 390, height: 844 }
    const context = await browser.newContext({ javaScriptEnabled: false, viewport })
    const page = await context.newPage()
    await page.goto(s.w.origin)
    const models = page.locator('#menu').getByRole('link', { name: 'Models' })
    expect(await models.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await models.click()
    await page.getByRole('heading', { level: 1, name: 'Models', exact: true }).waitFor()
    await context.close()
  }, 60_000)

  test('on a phone the commands of a verification keep their lines', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const page = await context.newPage()
    await page.goto(`${s.w.origin}/verify`)
    const height = await page.evaluate<number>(`(() => {
      const pre = document.querySelector('.commands pre')
      return pre.offsetHeight / parseFloat(getComputedStyle(pre).lineHeight)
    })()`)
    expect(Math.round(height)).toBe(2)
    await context.close()
  }, 60_000)

  describe('nothing is wrong with', () => {
    const visits = ['/models', '/plans', '/verify'].flatMap((path) =>
      looks.map((look) => [`${path} ${lookName(look)}`, path, look] as const),
    )
    test.each(visits)(
      '%s',
      async (_, path, look) => {
        expect(await inspectPage(browser, s.w.origin + path, look)).toEqual([])
      },
      60_000,
    )
  })
})
