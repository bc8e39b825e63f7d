import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { verifyPage } from '../../src/proof/receipts/verify-page.ts'
import type { EvidenceFile } from '../../src/verify/upstream-evidence.ts'
import { ask, collect, payer, signedWorld } from '../proof/upstream-evidence/evidence-world.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { type SigningUpstream, signingUpstream, upstreamKey } from '../support/signing-upstream.ts'
import type { World } from '../support/world.ts'
import { axe } from './axe.ts'

// A browser on a busy machine.
setDefaultTimeout(60_000)

describe.skipIf(noChromium)('the evidence of an upstream in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-attested-page-'))
  let upstream: SigningUpstream
  let w: World
  let browser: Browser
  let id: string
  let receipt: string
  let evidence: EvidenceFile

  beforeAll(async () => {
    writeFileSync(join(folder, 'verify.html'), verifyPage)
    upstream = await signingUpstream()
    w = await signedWorld(upstream.url)
    const key = await payer(w)
    ;({ receiptId: id } = await ask(w, key))
    await collect(w)
    receipt = await (await w.call(`/v1/receipts/${id}`, { key })).text()
    evidence = await (await w.call(`/v1/receipts/${id}/proof?format=evidence`, { key })).json()
    const input = { model: 'signed/good', messages: [{ role: 'user', content: 'yes' }] }
    const json = {
      visibility: 'public',
      reveal: ['input'],
      disclosures: { input: { value: input } },
    }
    await w.call(`/v1/receipts/${id}/share`, { key, json })
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    upstream?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function using(
    work: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const context = await browser.newContext(options)
    try {
      await work(await context.newPage())
    } finally {
      await context.close()
    }
  }
  const forged = (): EvidenceFile => {
    const copy = structuredClone(evidence)
    copy.statement.answer_sha256 = copy.statement.request_sha256
    return copy
  }

  test('The page of a receipt checks it there, and says what it proves.', () =>
    using(async (page) => {
      await page.goto(`${w.origin}/receipts/${id}`)
      await page.locator('#checked-here:not(.unseen)').waitFor()
      await page.locator('#evidence', { hasText: 'attested upstream' }).waitFor()
      expect(await page.locator('#checks').textContent()).toContain('Upstream signed its answer')
      expect(await page.locator('#attested').textContent()).toContain('It does not prove that')
      expect(await axe(page)).toEqual([])
      const payload = JSON.parse(
        (await page.locator('#payload').getAttribute('data-payload')) ?? '',
      )
      expect(payload.evidence.statement).toEqual(evidence.statement)
    }))

  test('A page whose evidence was forged on its way finds that by itself.', () =>
    using(async (page) => {
      await page.route(`**/receipts/${id}`, async (route) => {
        const response = await route.fetch()
        const { answer_sha256: answer, request_sha256: request } = evidence.statement
        const body = (await response.text()).replaceAll(answer, request)
        await route.fulfill({ response, body })
      })
      await page.goto(`${w.origin}/receipts/${id}`)
      await page.locator('#checks', { hasText: 'The upstream did not sign it' }).waitFor()
      await page.locator('#standing', { hasText: 'Not valid' }).waitFor()
    }))

  test('/verify takes it beside a receipt, with the keys of this service.', () =>
    using(async (page) => {
      const judged = async (file: EvidenceFile) => {
        await page.goto(`${w.origin}/verify`)
        await page.locator('#stays-here:not(.unseen)').waitFor()
        await page.locator('#text').fill(receipt)
        await page.getByText('A quote, evidence or a policy?').click()
        await page.locator('#evidence').fill(JSON.stringify(file))
        await page.getByRole('button', { name: 'Verify', exact: true }).click()
        await page.locator('#result-title').waitFor()
        return page.locator('#result').textContent()
      }
      expect(await judged(evidence)).toContain('attested upstream')
      expect(await judged(forged())).toContain('The upstream signed another request or answer.')
      await page.locator('#evidence').fill('{}')
      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      await page.locator('#evidence-error', { hasText: 'This is not such evidence.' }).waitFor()
    }))

  test('/verify without a script says the same.', () =>
    using(
      async (page) => {
        await page.goto(`${w.origin}/verify`)
        await page.locator('#text').fill(receipt)
        await page.getByText('A quote, evidence or a policy?').click()
        await page.locator('#evidence').fill(JSON.stringify(evidence))
        await page.getByRole('button', { name: 'Verify', exact: true }).click()
        await page.locator('#verdict', { hasText: 'attested upstream' }).waitFor()
      },
      { javaScriptEnabled: false },
    ))

  test('The offline page checks it without a network; the policy names the key.', () =>
    using(
      async (page) => {
        await page.goto(`file://${join(folder, 'verify.html')}`)
        await page.locator('#text').fill(receipt)
        await page.getByText('Policy, issuer, proof, quote, evidence').click()
        const judged = async (file: EvidenceFile, keys: string[]) => {
          const rules = { type: 'counterfoil.policy', version: '1', upstream_keys: keys }
          const policy = JSON.stringify({ ...rules, signers: [w.deps.signer.address] })
          await page.locator('#policy').fill(policy)
          await page.locator('#evidence').fill(JSON.stringify(file))
          await page.getByRole('button', { name: 'Verify', exact: true }).click()
          return page.locator('[data-check="attested"]').getAttribute('data-status')
        }
        expect(await judged(evidence, [upstreamKey.address])).toBe('pass')
        expect(await judged(evidence, [w.deps.signer.address])).toBe('fail')
        expect(await judged(forged(), [upstreamKey.address])).toBe('fail')
      },
      { offline: true },
    ))
})
