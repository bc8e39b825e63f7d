/**
 * Takes the README's pictures of a running service, into docs/pictures/. The service has a fixed
 * clock, seeded randomness, a model server on loopback, a local chain with a registry, and a month
 * of real runs. Needs Chromium and anvil.
 */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import artefact from '../../contracts/AnchorRegistry.json' with { type: 'json' }
import { keepAnchored } from '../../src/proof/anchors/publish.ts'
import { keepCheckpoint } from '../../src/proof/log/checkpoint.ts'
import { receiptCounter } from '../../src/storage/counts/count.ts'
import { toChecksumAddress } from '../../src/verify/address.ts'
import { browser as caller, signInWith } from '../../test/access/accounts/wallet.ts'
import { openChain } from '../../test/contracts/chain.ts'
import { senderKey } from '../../test/proof/anchors/anchored.ts'
import { startChromium } from '../../test/support/chromium.ts'
import { usd, world } from '../../test/support/world.ts'
import { encodePng, type Pixels } from './png.ts'

const folder = 'docs/pictures'
const day = 86_400_000
const days = 31
const end = Date.UTC(2026, 10, 20, 14, 30)
const themes = ['light', 'dark'] as const
type Theme = (typeof themes)[number]
const models = ['acme/small', 'acme/large', 'acme/reasoning']
const questions = [
  'Where is my order 20-4417?',
  'Summarise the incidents of this week.',
  'Review the change of the payment module.',
  'Which invoices are overdue?',
]

mkdirSync(folder, { recursive: true })
const draw = randomOf('runs')
const owner = privateKeyToAccount(`0x${Buffer.from(randomOf('owner').bytes(32)).toString('hex')}`)
const account = owner.address.toLowerCase()
const chain = await openChain('--timestamp', String((end - days * day) / 1000))
const registry = toChecksumAddress((await chain.deploy(artefact)).address)
const upstream = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
const w = await world({
  toml: toml(),
  now: end - days * day,
  random: randomOf('service'),
  sender: senderKey,
})
const browser = await startChromium()
try {
  const shown = await live()
  const person = caller(w)
  await signInWith(person, owner)
  const cookies = [...person.jar].map(([name, value]) => ({ name, value, url: w.origin }))
  // The last step of the first visit, so that the dashboard looks as it does afterwards.
  const first = await open('light', cookies, 1100)
  const told = first.waitForResponse('**/api/portal/overview/verify')
  await first.goto(`${w.origin}/dashboard/receipts/${shown}`)
  await told
  await first.context().close()
  for (const theme of themes) await take(theme, shown, cookies)
} finally {
  await browser.close()
  await w.stop()
  await upstream.stop(true)
  await chain.stop()
}

/** Makes keys and two weeks of runs, anchors them, and returns the id of the last receipt. */
async function live(): Promise<string> {
  const parent = await w.key({
    account,
    name: 'production',
    balance: 40n * usd,
    capLimit: 30n * usd,
  })
  const below = { account, parentId: parent.key.id, capWindow: 'day' as const }
  const keys = [
    parent,
    await w.key({ ...below, name: 'support agent', capLimit: 4n * usd }),
    await w.key({ ...below, name: 'nightly reports', capLimit: 6n * usd }),
    await w.key({ ...below, name: 'code review', capLimit: 10n * usd }),
  ]
  let id = ''
  for (let at = 0; at < days; at++) {
    const count = 5 + number(9)
    for (let run = 0; run < count; run++) {
      const key = keys[number(keys.length)]?.secret ?? ''
      const content = questions[number(questions.length)]
      const model = models[number(models.length)]
      const json = { model, messages: [{ role: 'user', content }] }
      const answer = await (await w.call('/v1/chat/completions', { key, json })).json()
      id = answer.receipt.id
      w.advance(Math.floor(day / (count + 1)))
    }
    await tend()
    w.advance(Math.floor(day / (count + 1)))
  }
  w.advance(end - w.deps.clock.now())
  return id
}

/** Runs the recurring jobs of a server once: numbers, counts and anchors its runs. */
async function tend(): Promise<void> {
  await w.deps.sequencer.flush()
  await keepCheckpoint(w.deps)
  await receiptCounter(w.deps)()
  for (let i = 0; i < 4; i++) {
    await keepAnchored(w.deps)
    await mine('0x1')
  }
  await mine('0x80')
  await keepAnchored(w.deps)
}

async function mine(blocks: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: [blocks] })
  const headers = { 'content-type': 'application/json' }
  await fetch(chain.url, { method: 'POST', headers, body })
}

/** The model server: one sentence, and plausible usage. */
async function answer(request: Request): Promise<Response> {
  const { model } = (await request.json()) as { model: string }
  w.advance(600 + number(2400))
  const message = { role: 'assistant', content: 'Three items need attention; the details follow.' }
  const usage = { prompt_tokens: 20 + number(40), completion_tokens: 200 + number(800) }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return Response.json({ id: 'c', object: 'chat.completion', created: 1, model, choices, usage })
}

function toml(): string {
  const price = { small: [1_500_000, 6_000_000], large: [9e6, 36e6], reasoning: [30e6, 120e6] }
  const entries = Object.entries(price).map(
    ([name, [input, output]]) => `[[models]]
id = "acme/${name}"
route = ["local:${name}"]
kind = "chat"
context_tokens = 128_000
max_output_tokens = 1024
input_pusd = ${input}
output_pusd = ${output}
`,
  )
  return `base_url = "https://gw.example"
[[upstreams]]
id = "local"
base_url = "http://127.0.0.1:${upstream.port}/v1"
${entries.join('')}
[chain]
rpc_urls = ["${chain.url}"]
[anchors]
registry = "${registry}"
min_receipts = 1
min_interval_s = 10
max_delay_s = 600
`
}

/** A whole number below `limit`. */
function number(limit: number): number {
  return new DataView(draw.bytes(4).buffer).getUint32(0) % limit
}

type Cookie = { name: string; value: string; url: string }

/** Puts the dashboard and, beside it, the slip of a receipt into one picture. */
async function take(theme: Theme, receipt: string, cookies: Cookie[]): Promise<void> {
  const wide = await open(theme, cookies, 1100)
  await wide.goto(`${w.origin}/dashboard`)
  await settled(wide)
  const dashboard = await wide.screenshot()
  const narrow = await open(theme, cookies, 560)
  await narrow.goto(`${w.origin}/dashboard/receipts/${receipt}`)
  await narrow.getByText('Checked in your browser.').waitFor()
  await settled(narrow)
  const slip = await narrow.locator('.slip').screenshot({ omitBackground: true })
  const ground = await narrow.evaluate('getComputedStyle(document.body).backgroundColor')
  const whole = await narrow.context().newPage()
  await whole.setViewportSize({ width: 1800, height: 900 })
  await whole.setContent(
    `<body style="margin: 0; display: inline-flex; gap: 8px; padding-right: 32px;
      background: ${ground}">${imageOf(dashboard)}${imageOf(slip)}`,
  )
  const both = await whole.locator('body').screenshot()
  await Bun.write(`${folder}/overview-${theme}.png`, encodePng(await pixelsOf(whole, both)))
  await Promise.all([wide.context().close(), narrow.context().close()])
}

function imageOf(png: Buffer): string {
  return `<img src="data:image/png;base64,${png.toString('base64')}">`
}

/** Lets the browser decode a picture. */
async function pixelsOf(page: Page, png: Buffer): Promise<Pixels> {
  await page.setContent(imageOf(png))
  const [width, height, text] = await page.evaluate<[number, number, string]>(`(async () => {
    const image = document.querySelector('img')
    await image.decode()
    const { naturalWidth: width, naturalHeight: height } = image
    const canvas = new OffscreenCanvas(width, height).getContext('2d')
    canvas.drawImage(image, 0, 0)
    const { data } = canvas.getImageData(0, 0, width, height)
    const file = new FileReader()
    await new Promise((done) => { file.onload = done; file.readAsDataURL(new Blob([data])) })
    return [width, height, file.result.slice(file.result.indexOf(',') + 1)]
  })()`)
  return { width, height, rgba: Buffer.from(text, 'base64') }
}

async function open(theme: Theme, cookies: Cookie[], width: number): Promise<Page> {
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height: width > 1000 ? 800 : 1400 },
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-GB',
  })
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.clock.setFixedTime(w.deps.clock.now())
  return page
}

async function settled(page: Page): Promise<void> {
  await page.evaluate('document.fonts.ready')
  await page.waitForTimeout(1200)
}

/** The same bytes in every run of this script. */
function randomOf(seed: string) {
  let count = 0
  const block = () => createHash('sha256').update(`${seed} ${count++}`).digest()
  return {
    bytes(size: number): Uint8Array {
      const blocks = Array.from({ length: Math.ceil(size / 32) }, block)
      return new Uint8Array(Buffer.concat(blocks).subarray(0, size))
    },
  }
}
