import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { verifyPage } from '../../src/proof/receipts/verify-page.ts'
import { meterWords } from '../../src/verify/meter-words.ts'
import { redact, sectionNames } from '../../src/verify/receipt.ts'
import { headlineOf } from '../../src/verify/verdict-words.ts'
import manyMeters from '../fixtures/receipt-every-meter-v1.json'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { anchoredFile } from '../verify/anchor-samples.ts'
import { judge, set } from '../verify/judge.ts'
import { someMutants } from '../verify/mutants.ts'
import { proofAt, sampleLog } from '../verify/proof-samples.ts'
import { facts, fileOf, testSigner } from '../verify/samples.ts'
import { witnessedFile } from '../verify/witness-samples.ts'
import { axe } from './axe.ts'
import { dearReceipt, names, policyText, quote, quoteFile, receiptFor } from './beside.ts'

// A browser on a busy machine.
setDefaultTimeout(60_000)

type Opened = {
  page: Page
  /** What it asked for beside itself, and what went wrong in it. */
  asked: string[]
  wrong: string[]
}

describe.skipIf(noChromium)('the offline page in Chromium, without a network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-page-'))
  const path = join(folder, 'verify.html')
  let browser: Browser
  beforeAll(async () => {
    writeFileSync(path, verifyPage)
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Opens the page from a disk. */
  async function open(options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await browser.newContext({ offline: true, ...options })
    const page = await context.newPage()
    const asked: string[] = []
    const wrong: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => wrong.push(message.text()))
    page.on('pageerror', (error) => wrong.push(String(error)))
    await page.goto(`file://${path}`)
    return { page, asked, wrong }
  }

  async function using<T>(work: (opened: Opened) => Promise<T>, options?: BrowserContextOptions) {
    const opened = await open(options)
    try {
      return await work(opened)
    } finally {
      await opened.page.context().close()
    }
  }

  const fill = async (page: Page, file: unknown, signer = testSigner.address) => {
    await page.getByLabel('Or paste its text').fill(JSON.stringify(file))
    await page.getByLabel('Which signers do you trust?').fill(signer)
    await page.getByRole('button', { name: 'Verify' }).click()
  }
  const headline = (page: Page) => page.locator('#verdict h2').textContent()
  /** Each check and how it came out, as the page shows them. */
  const outcomes = (page: Page): Promise<string[]> =>
    page
      .locator('[data-check]')
      .evaluateAll((all) =>
        all.map((one) => `${one.getAttribute('data-check')} ${one.getAttribute('data-status')}`),
      )
  const flip = (text: string, at: number) =>
    text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)

  const changed = (place: string, value: unknown) => {
    const file = structuredClone(anchoredFile())
    set(file, place, value)
    return file
  }
  const { receipt, digest, signature, proof } = anchoredFile()
  const hidden = { ...fileOf(), receipt: redact(receipt, sectionNames), disclosures: undefined }

  test.each([
    ['signed', fileOf()],
    ['logged and, by its own word, anchored', anchoredFile()],
    ['with everything hidden', hidden],
    ['with another model', changed('receipt.run.model', 'acme/small-2')],
    ['with another digest', changed('digest', flip(digest, 9))],
    ['with another signature', changed('signature', flip(signature, 9))],
    ['with another path', changed('proof.path.1', flip(proof.path[1] ?? '', 9))],
    ['with another root', changed('proof.checkpoint.root', flip(proof.checkpoint.root, 9))],
    ['with another signature of the log', changed('proof.checkpoint.signature', signature)],
    ['with another input', changed('disclosures.input.value', 'other')],
    ['that is none inside', changed('receipt.run', 5)],
    ['with every meter, and one of a later version', manyMeters],
  ])('comes to the same as everywhere about a receipt %s, and asks no one', (_, file) =>
    using(async ({ page, asked, wrong }) => {
      await fill(page, file)
      const verdict = judge(JSON.parse(JSON.stringify(file)))
      expect(await headline(page)).toBe(headlineOf(verdict))
      const expected = verdict.checks.map(({ name, status }) => `${name} ${status}`)
      expect((await outcomes(page)).sort()).toEqual(expected.sort())
      expect(await page.locator('.stamp').count()).toBe(verdict.valid ? 1 : 0)
      expect([asked, wrong]).toEqual([[`file://${path}`], []])
    }),
  )

  promise`O4`
  test('names each meter in words, and one of a later version by its own name', () =>
    using(async ({ page }) => {
      await fill(page, manyMeters)
      await page.locator('.slip').waitFor()
      const named = await page.locator('.slip dt').allTextContents()
      const { lines } = manyMeters.receipt.charge
      const words = lines.map(({ meter }) => meterWords(meter))
      expect(named.slice(4, 4 + words.length)).toEqual(words)
      expect(words.slice(-2)).toEqual(['Request', 'video_input'])
      const values = await page.locator('.slip dd').allTextContents()
      expect(values).toContain('1,920 at $0.30 per 1M =\u00a0$0.000576')
      expect(values).toContain('3 at $0.01 each =\u00a0$0.03')
    }))

  promise`C15`
  promise`G14`
  test('stamps no file to which a member was added, or in which one stands twice', () =>
    using(async ({ page }) => {
      for (const { name, text } of someMutants([fileOf(), anchoredFile(), hidden], 40)) {
        await page.getByRole('button', { name: 'Clear' }).click()
        await page.locator('#verdict').waitFor({ state: 'hidden' })
        await page.getByLabel('Or paste its text').fill(text)
        await page.getByLabel('Which signers do you trust?').fill(testSigner.address)
        await page.getByRole('button', { name: 'Verify' }).click()
        const told = page.locator('#verdict h2, #textError:not([hidden])')
        expect([name, await told.textContent()]).toEqual([
          name,
          expect.stringMatching(/^(Not valid|This is not a receipt file\.)$/),
        ])
        expect(await page.locator('.stamp').count()).toBe(0)
      }
    }))

  test('never says valid while no one is trusted', () =>
    using(async ({ page }) => {
      await fill(page, anchoredFile(), '')
      expect(await headline(page)).toBe('Undecided')
      expect(await page.locator('.stamp').count()).toBe(0)
      await fill(page, anchoredFile(), `0x${'12'.repeat(20)}`)
      expect(await headline(page)).toBe('Not valid')
    }))

  test('takes a chosen file, and the proof and another checkpoint beside it', () =>
    using(async ({ page }) => {
      const bare = join(folder, 'bare.json')
      writeFileSync(bare, JSON.stringify(fileOf()))
      await page.getByLabel('Which signers do you trust?').fill(testSigner.address)
      await page.getByLabel('Drop a receipt file here').setInputFiles(bare)
      await page.getByRole('heading', { name: 'Verified' }).waitFor()
      await page.getByText('Policy, issuer, proof, quote, evidence and a second checkpoint').click()
      await page.getByLabel('Issuer it must be from').fill(facts.issuer)
      await page.getByLabel('Proof, when').fill(JSON.stringify(proofAt(13)))
      const log = sampleLog(40)
      const answer = { log: { checkpoint: log.checkpoint() }, consistency: log.consistency(13) }
      await page.getByLabel('Another checkpoint').fill(JSON.stringify(answer))
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Signed and logged' }).waitFor()
      const told = await outcomes(page)
      for (const name of ['issuer', 'inclusion', 'checkpoint_consistent']) {
        expect(told).toContain(`${name} pass`)
      }
      await page.getByRole('button', { name: 'Clear' }).click()
      await page.getByRole('heading', { name: 'What is checked' }).waitFor()
      expect(await page.getByLabel('Or paste its text').inputValue()).toBe('')
    }))

  test('takes a policy with witnesses, and a quote that the receipt has to keep', () =>
    using(async ({ page, asked }) => {
      await page.getByText('Policy, issuer, proof, quote').click()
      await page.getByLabel('Policy: signers').fill(policyText)
      await fill(page, witnessedFile(), '')
      await page.getByText(`Evidence: signed, logged, witnessed by ${names}.`).waitFor()
      await page.getByLabel('Policy: signers').fill('')
      await page.getByLabel('Quote that was promised').fill(JSON.stringify(quoteFile(quote)))
      await fill(page, receiptFor(quote))
      await page.getByRole('heading', { name: 'Verified' }).waitFor()
      expect(await outcomes(page)).toContain('quote pass')
      await fill(page, dearReceipt)
      await page.getByRole('heading', { name: 'Not valid' }).waitFor()
      expect(await outcomes(page)).toContain('quote fail')
      expect(asked).toEqual([`file://${path}`])
    }))

  test('marks the field that is wrong and says why', () =>
    using(async ({ page }) => {
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByText('Choose a receipt file or paste its text.').waitFor()
      await fill(page, { type: 'something.else' })
      await page.getByText('This is not a receipt file.').waitFor()
      await fill(page, fileOf(), '0x12')
      await page.getByText('“0x12” is not an address.').waitFor()
      const field = page.getByLabel('Which signers do you trust?')
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      expect(await field.evaluate((one) => one === document.activeElement)).toBe(true)
      expect(await page.locator('#verdict').isVisible()).toBe(false)
    }))

  test('shows what a file says as text, never as a page', () =>
    using(async ({ page, asked, wrong }) => {
      const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
      const file = fileOf({ ...facts, run: { ...facts.run, model: evil }, input: { evil } })
      await fill(page, file)
      expect(await headline(page)).toBe('Verified')
      expect(await page.locator('dd', { hasText: evil }).count()).toBe(1)
      expect(await page.title()).toContain('Verify a receipt')
      expect([asked.length, wrong]).toEqual([1, []])
    }))

  test('may not connect to anyone, by its own rules', () =>
    using(
      async ({ page }) => {
        const tried = await page.evaluate(() =>
          fetch('http://127.0.0.1:9/').then(
            () => 'connected',
            (error: unknown) => String(error),
          ),
        )
        expect(tried).toContain('TypeError')
        const policy = /content-security-policy" content="([^"]+)"/.exec(verifyPage)?.[1]
        expect(policy).toStartWith("default-src 'none'; script-src 'sha256-")
        expect(policy).not.toMatch(/connect-src|unsafe|\*|http/)
        expect(verifyPage).not.toMatch(/\beval\(|new Function\(|<link[^>]+http|<script src/)
      },
      { offline: false },
    ))

  const looks = [390, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
  )
  test.each(looks)('is accessible and as wide as its window at %i, %s', (width, colorScheme) =>
    using(
      async ({ page }) => {
        const bad = changed('receipt.run.model', 'acme/small-2')
        for (const file of [undefined, anchoredFile(), bad]) {
          if (file) await fill(page, file)
          expect(await axe(page)).toEqual([])
          const extra = await page.evaluate(
            () => document.documentElement.scrollWidth - window.innerWidth,
          )
          expect(extra).toBeLessThanOrEqual(0)
        }
      },
      { viewport: { width, height: 900 }, colorScheme },
    ),
  )
})
