import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { verifyPage } from '../../src/proof/receipts/verify-page.ts'
import { toChecksumAddress } from '../../src/verify/address.ts'
import { checkLiabilities, type LiabilitiesFile } from '../../src/verify/liabilities.ts'
import { changed, publish } from '../proof/liabilities/publishing.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { axe } from './axe.ts'

// A browser on a busy machine.
setDefaultTimeout(60_000)

const shots = process.env['SHOTS']

describe.skipIf(noChromium)('a proof of liabilities, on the offline page without a network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-liabilities-page-'))
  const path = join(folder, 'verify.html')
  let w: World
  let browser: Browser
  let file: LiabilitiesFile
  beforeAll(async () => {
    w = await world()
    const { secret } = await w.key({ balance: 3n * usd })
    await w.key({ account: `0x${'12'.repeat(20)}`, balance: 4n * usd })
    await publish(w)
    file = (await (await w.call('/liabilities/proof', { key: secret })).json()) as LiabilitiesFile
    writeFileSync(path, verifyPage)
    writeFileSync(join(folder, 'liabilities.json'), JSON.stringify(file))
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  type Look = { width?: number; colorScheme?: 'light' | 'dark' }

  async function using(work: (page: Page, asked: string[]) => Promise<void>, look: Look = {}) {
    const { width = 1280, colorScheme = 'light' } = look
    const viewport = { width, height: 900 }
    const context = await browser.newContext({ offline: true, viewport, colorScheme })
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    try {
      await page.goto(`file://${path}`)
      await work(page, asked)
    } finally {
      await context.close()
    }
  }

  const name = async (page: Page, account: string = testAccount) => {
    await page.getByLabel('Which signers do you trust?').fill(w.deps.signer.address)
    await page.getByText('Your account, for a proof of liabilities').click()
    await page.getByLabel('Account it must count').fill(account)
  }
  const drop = (page: Page, given: unknown) =>
    page.evaluate((text) => {
      const carried = new DataTransfer()
      carried.items.add(new File([text], 'liabilities.json'))
      const event = new DragEvent('drop', { dataTransfer: carried, bubbles: true })
      document.getElementById('drop')?.dispatchEvent(event)
    }, JSON.stringify(given))
  const headline = (page: Page) => page.locator('#verdict h2').textContent()
  const outcomes = (page: Page): Promise<string[]> =>
    page
      .locator('[data-check]')
      .evaluateAll((all) =>
        all.map((one) => `${one.getAttribute('data-check')} ${one.getAttribute('data-status')}`),
      )
  const own = (copy: LiabilitiesFile) => copy.own as NonNullable<LiabilitiesFile['own']>

  test('is judged when it is chosen, with the balance and the total on paper', () =>
    using(async (page, asked) => {
      await name(page)
      await page.getByLabel('Oldest statement, in hours').fill('48')
      await page
        .getByLabel('Drop a receipt file here')
        .setInputFiles(join(folder, 'liabilities.json'))
      await page.getByRole('heading', { name: 'Counted' }).waitFor()
      await page.getByText('This balance is part of the signed total.').waitFor()
      const trust = {
        signers: [{ address: w.deps.signer.address }],
        account: testAccount,
        since: 0,
      }
      const expected = checkLiabilities(file, trust).map((check) => `${check.name} ${check.status}`)
      expect((await outcomes(page)).sort()).toEqual(expected.sort())
      const paper = await page.locator('.slip').textContent()
      expect(paper).toContain('Statement 1')
      expect(paper).toContain(toChecksumAddress(testAccount))
      expect(paper).toMatch(/Total liabilities\s*\$7\.00/)
      expect(paper).toMatch(/Your balance\s*\$3\.00/)
      expect(await page.locator('.stamp').textContent()).toMatch(/^Verified\s*Counted$/)
      expect(asked).toEqual([`file://${path}`])
      // The same page takes a receipt afterwards: what stands in the fields decides.
      await page.getByRole('button', { name: 'Clear' }).click()
      await page.getByRole('heading', { name: 'What is checked' }).waitFor()
      expect(await page.getByLabel('Account it must count').inputValue()).toBe('')
    }))

  promise`D60`
  test('is refused when it was tampered with, dropped onto the page', () =>
    using(async (page) => {
      await name(page)
      await drop(page, file)
      await page.getByRole('heading', { name: 'Counted' }).waitFor()
      const cases: [what: string, told: string, change: (copy: LiabilitiesFile) => void][] = [
        [
          'a larger balance',
          'Your balance is not part of the total',
          (copy) => {
            own(copy).balance_nusd = '3000000001'
          },
        ],
        [
          'a smaller total',
          'Not signed by this service',
          (copy) => {
            copy.statement.total_nusd = '3000000000'
          },
        ],
        [
          'another place in the log',
          'Not in the public log',
          (copy) => {
            copy.log.index = '7'
          },
        ],
        [
          'a member more',
          'The file cannot be read',
          (copy) => {
            Object.assign(copy, { note: 'valid' })
          },
        ],
      ]
      for (const [what, told, change] of cases) {
        await drop(page, changed(file, change))
        await page.locator('[data-status="fail"]', { hasText: told }).waitFor()
        expect([what, await headline(page)]).toEqual([what, 'Not valid'])
        expect(await page.locator('.stamp').count()).toBe(0)
        await drop(page, file)
        await page.getByRole('heading', { name: 'Counted' }).waitFor()
      }
    }))

  test('decides nothing without a signer or an account, and refuses that of another account', () =>
    using(async (page) => {
      await drop(page, file)
      await page.getByText('Nothing fails, but no trusted signer was given').waitFor()
      expect(await headline(page)).toBe('Undecided')
      await name(page, '')
      await drop(page, file)
      await page.getByText('Nothing fails, but no account was named').waitFor()
      await page.getByLabel('Account it must count').fill('0x12')
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByText('“0x12” is not an address.').waitFor()
      await page.getByLabel('Account it must count').fill(`0x${'12'.repeat(20)}`)
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.locator('[data-status="fail"]', { hasText: 'It counts another account' }).waitFor()
      const { own: _, ...whole } = file
      await page.getByLabel('Account it must count').fill('')
      await drop(page, whole)
      await page.getByRole('heading', { name: 'Signed and logged' }).waitFor()
      await page.getByLabel('Oldest statement, in hours').fill('soon')
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByText('Whole hours, such as 48.').waitFor()
    }))

  const looks = [390, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
  )
  test.each(looks)('is accessible and as wide as its window at %i, %s', (width, colorScheme) =>
    using(
      async (page) => {
        await name(page)
        const wrong = changed(file, (copy) => {
          own(copy).balance_nusd = '9000000000'
        })
        for (const [given, told] of [[wrong, 'Not valid'] as const, [file, 'Counted'] as const]) {
          await drop(page, given)
          await page.getByRole('heading', { name: told }).waitFor()
          expect(await axe(page)).toEqual([])
          const extra = await page.evaluate(
            () => document.documentElement.scrollWidth - window.innerWidth,
          )
          expect(extra).toBeLessThanOrEqual(0)
          const shot = `${shots}/verify-liabilities-${told}-${width}-${colorScheme}.png`
          if (shots) await page.screenshot({ path: shot, fullPage: true })
        }
      },
      { width, colorScheme },
    ),
  )
})
