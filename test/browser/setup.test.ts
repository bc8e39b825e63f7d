import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { noChromium, startChromium } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { program } from '../support/program.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { injectWallet, signer } from './injected-wallet.ts'
import { inspectPage, lookName, looks } from './support.ts'

setDefaultTimeout(120_000)

const root = resolve(import.meta.dir, '../..')
const model = 'llama-3.3-70b-versatile'
const apiKey = 'gsk_of-a-newcomer'

/** A provider that lists one model, of which a price is published, and answers it. */
const startProvider = () =>
  startStubUpstream({
    apiKey,
    handler: ({ path, body }, response) => {
      if (path.endsWith('/models')) {
        response.setHeader('content-type', 'application/json')
        const data = [{ id: model, context_window: 131_072, max_completion_tokens: 32_768 }]
        response.end(JSON.stringify({ object: 'list', data }))
        return
      }
      const usage = { prompt_tokens: 12, completion_tokens: 2, total_tokens: 14 }
      const head = { id: 'chatcmpl-1', created: 1, model: body['model'] }
      if (body['stream'] !== true) {
        const message = { role: 'assistant', content: 'Hello there' }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }))
        return
      }
      response.setHeader('content-type', 'text/event-stream')
      const send = (more: object) =>
        response.write(
          `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`,
        )
      send({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello there' } }] })
      send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
      send({ choices: [], usage })
      response.end('data: [DONE]\n\n')
    },
  })

describe.skipIf(noChromium)('the first hour of an operator, in a real browser', () => {
  let folder: string
  let server: Bun.Subprocess<'ignore', 'ignore', 'pipe'>
  let provider: Awaited<ReturnType<typeof startProvider>>
  let browser: Browser
  let context: BrowserContext
  let origin: string
  let link: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-first-'))
    const config = join(folder, 'counterfoil.toml')
    Bun.spawnSync([...program, 'init', config], { cwd: root })
    provider = await startProvider()
    const port = freePort()
    origin = `http://localhost:${port}`
    const places = ['--config', config, '--data', join(folder, 'data')]
    const listens = ['--listen', `127.0.0.1:${port}`, '--base-url', origin]
    server = Bun.spawn([...program, 'serve', ...places, ...listens], {
      cwd: root,
      stdout: 'ignore',
      stderr: 'pipe',
      stdin: 'ignore',
    })
    link = await printedLink(server.stderr)
    browser = await startChromium()
    context = await browser.newContext({ reducedMotion: 'reduce' })
    await injectWallet(context, { accounts: [signer.address.toLowerCase()] })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    server?.kill()
    await server?.exited
    await provider?.stop()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })

  const cookies = async () => (await context.cookies()).map(({ name, value }) => ({ name, value }))
  const inspect = async (path: string) => {
    for (const look of looks) {
      const found = await inspectPage(browser, origin + path, { ...look, cookies: await cookies() })
      expect([path, lookName(look), found]).toEqual([path, lookName(look), []])
    }
  }

  test('A newcomer comes from an empty folder to a receipt in ten clicks and types no price.', async () => {
    let clicks = 0
    const click = async (of: Locator) => {
      clicks++
      await of.click()
    }
    const page: Page = await context.newPage()
    await inspect('/setup')
    await page.goto(link)
    expect(page.url()).toBe(`${origin}/setup`)
    await inspect('/setup')
    await click(page.getByRole('button', { name: 'Test Wallet' }))
    await page.getByRole('heading', { name: 'Become the operator' }).waitFor()
    await inspect('/setup')
    await click(page.getByRole('button', { name: 'Become the operator' }))
    await page.getByRole('heading', { name: 'From here to the first verified receipt' }).waitFor()
    await inspect('/setup')
    await click(page.getByRole('link', { name: 'Add one' }))
    await click(page.getByRole('link', { name: 'Groq', exact: true }))
    await page.getByLabel('Key of Groq').fill(apiKey)
    await page.getByLabel('Address').fill(provider.url)
    await page.getByLabel('Markup in percent').fill('10')
    await click(page.getByRole('button', { name: 'Test the key and show models' }))
    await click(page.getByRole('button', { name: 'Add Groq' }))
    await page.waitForURL('**/setup')
    await click(page.getByRole('button', { name: 'Grant it' }))
    await click(page.getByRole('link', { name: 'Run one' }))
    await click(page.getByRole('button', { name: 'Send' }))
    await page.getByText('Hello there').waitFor()
    await page.locator('a[href^="/receipts/rcpt_"]').first().waitFor()
    expect(clicks).toBeLessThanOrEqual(10)
    await page.goto(`${origin}/setup`)
    await click(page.getByRole('link', { name: 'Verify it' }))
    await page.waitForURL('**/receipts/rcpt_*')
    expect(clicks).toBeLessThanOrEqual(10)
    const written = readFileSync(join(folder, 'counterfoil.toml'), 'utf8')
    expect(written).toContain(`admins = ["${signer.address}"]`)
    expect(written).not.toContain(apiKey)
    await page.close()
  })

  test('What an operator changes of a model and an upstream fits any width and needs no script.', async () => {
    const id = encodeURIComponent(`groq/${model}`)
    await inspect(`/dashboard/admin/models/model?id=${id}`)
    await inspect('/dashboard/admin/models/upstream?id=groq')
    const plain = await browser.newContext({ javaScriptEnabled: false })
    await plain.addCookies((await cookies()).map((one) => ({ ...one, url: origin })))
    const page = await plain.newPage()
    await page.goto(`${origin}/dashboard/admin/models/model?id=${id}`)
    await page.getByLabel('Aliases').fill('fast')
    await page.getByRole('button', { name: 'Show the change' }).click()
    expect(await page.locator('#diff').textContent()).toContain('+ aliases = ')
    await page.setViewportSize({ width: 320, height: 640 })
    const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
    expect(await page.evaluate(wide)).toBe(false)
    await page.getByRole('button', { name: 'Change it' }).click()
    await page.waitForURL('**/dashboard/admin/models')
    await page.goto(`${origin}/dashboard/admin/models/upstream?id=groq`)
    await page.getByRole('button', { name: 'Test it' }).click()
    await page.getByText(model).waitFor()
    await plain.close()
  })

  test('A stranger with the used link sees only that there is an operator.', async () => {
    const stranger = await browser.newContext()
    const page = await stranger.newPage()
    await page.goto(link)
    expect(page.url()).toBe(`${origin}/setup`)
    await page.getByText('This service has an operator.').waitFor()
    expect(await stranger.cookies()).toEqual([])
    await stranger.close()
  })
})

/** The set-up link among what a server prints at its start. */
async function printedLink(printed: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const found = Promise.withResolvers<string>()
  void (async () => {
    for await (const piece of printed) {
      text += new TextDecoder().decode(piece)
      const link = /https?:\/\/\S+\/setup\?token=\S+/.exec(text)?.[0]
      if (link) found.resolve(link)
    }
    found.reject(new Error(`no link was printed: ${text}`))
  })()
  return found.promise
}
