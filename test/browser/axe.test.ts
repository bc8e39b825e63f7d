import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { noChromium, startChromium } from '../support/chromium.ts'
import { promise } from '../support/promise.ts'
import { axe } from './axe.ts'
import { inspectPage } from './support.ts'

/** Two links one below the other, as high as `height` px. */
const links = (height: number): string => `<!doctype html><html lang="en"><title>links</title>
  <main><h1>Links</h1>
    ${['one', 'two']
      .map(
        (name) =>
          `<a style="display:block;height:${height}px;overflow:hidden" href="#">${name}</a>`,
      )
      .join('')}
  </main>`

describe.skipIf(noChromium)('the rules that every page is held against', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  }, 60_000)
  afterAll(() => browser?.close())

  const brokenBy = async (html: string): Promise<string[]> => {
    // A context of its own: axe asks for one.
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.setContent(html)
      return (await axe(page)).map((line) => line.split(':')[0] ?? '')
    } finally {
      await context.close()
    }
  }

  promise`C15 H: Every page keeps the rules of WCAG 2.2 AA, the size of targets among them.`
  test('find links of 18 px one below the other, which WCAG 2.2 AA forbids', async () => {
    expect(await brokenBy(links(18))).toContain('axe target-size')
  }, 60_000)

  test('are asked again of an open page in another theme and width', async () => {
    const colours =
      'main{color:#000;background:#fff}@media(prefers-color-scheme:dark){p{color:#eee}}'
    const html = `<!doctype html><html lang="en"><title>looks</title><style>${colours}</style>
      <a class="skip" href="#main">Skip</a>
      <main id="main"><h1>Looks</h1><p style="width:600px">words</p></main>`
    const headers = { 'content-type': 'text/html' }
    const server = Bun.serve({ port: 0, fetch: () => new Response(html, { headers }) })
    const look = { theme: 'light', width: 1280, script: true } as const
    const inLooks = (next?: { theme: 'dark'; width: 390 }) =>
      inspectPage(browser, `${server.url}`, { ...look, ...(next && { next }) })
    expect(await inLooks()).toEqual([])
    expect(await inLooks({ theme: 'dark', width: 390 })).toEqual([
      expect.stringMatching(/^dark, 390 px: scrolls sideways/),
      expect.stringMatching(/^dark, 390 px: axe color-contrast: <p/),
    ])
    server.stop(true)
  }, 60_000)

  test('are asked by visits that do not see the visit before, and load all that they weigh', async () => {
    const script = `const been = document.cookie + (localStorage.getItem('been') ?? '')
      if (been) console.error('was here: ' + been)
      document.cookie = 'been=cookie'; localStorage.setItem('been', 'storage')`
    const html = `<!doctype html><html lang="en"><title>visits</title>
      <a class="skip" href="#main">Skip</a><main id="main"><h1>Visits</h1></main>
      <script src="/visit.js"></script>`
    const asked: string[] = []
    const server = Bun.serve({
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url)
        if (pathname === '/favicon.ico') return new Response(null, { status: 204 })
        asked.push(pathname)
        const headers = { 'content-type': pathname === '/' ? 'text/html' : 'text/javascript' }
        const cached = { ...headers, 'cache-control': 'max-age=3600' }
        return new Response(pathname === '/' ? html : script, { headers: cached })
      },
    })
    const look = { theme: 'light', width: 1280, script: true } as const
    for (const _ of [1, 2, 3]) {
      expect(await inspectPage(browser, `${server.url}`, look)).toEqual([])
    }
    expect(asked).toEqual(Array(3).fill(['/', '/visit.js']).flat())
    server.stop(true)
  }, 60_000)

  test('take links of 24 px', async () => {
    expect(await brokenBy(links(24))).not.toContain('axe target-size')
  }, 60_000)
})
