/** Photographs every page of a showcase, with dense data and live traffic. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { startChromium } from '../../test/support/chromium.ts'
import { pagesOf, type ShownPage } from '../showcase/pages.ts'
import { type Showcase, startShowcase } from '../showcase/start.ts'

const themes = ['light', 'dark'] as const
const widths = [1280, 390] as const
/** The most of a long page that is photographed, in px. */
const maxHeight = 4200

/** Takes the pages whose name contains one of `only`; all of them without one. */
export async function photographPages(folder: string, only: string[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const showcase = await startShowcase({ say: console.log })
  const browser = await startChromium()
  try {
    const all = await pagesOf(showcase)
    const isWanted = ({ name }: ShownPage) =>
      only.length === 0 || only.some((part) => name.includes(part))
    await photograph(browser, showcase, { folder, pages: all.filter(isWanted) })
    breakOne(showcase)
    await photograph(browser, showcase, { folder, pages: brokenPages.filter(isWanted) })
  } finally {
    await browser.close()
    await showcase.stop()
  }
}

/** Pages of a fault of the service itself, for a visitor and for a signed-in person. */
const brokenPages: ShownPage[] = [
  { name: 'broken', route: '/models', path: '/models', isSignedIn: false },
  {
    name: 'dashboard-broken',
    route: '/dashboard/admin/anchors',
    path: '/dashboard/admin/anchors',
    isSignedIn: true,
  },
]

/** What these pages read is not found from now on. */
function breakOne({ deps }: Showcase): void {
  const fail = () => Promise.reject(new Error('broken for its picture'))
  deps.site.placeOfPrices = fail
  deps.anchors.list = fail
}

type Wanted = { folder: string; pages: ShownPage[] }

export async function photograph(browser: Browser, showcase: Showcase, { folder, pages }: Wanted) {
  for (const theme of themes) {
    for (const width of widths) {
      const look = { theme, width }
      const visitor = await open(browser, look)
      const operator = await open(browser, look)
      const door = await operator.newPage()
      await door.goto(showcase.signIn(showcase.people[0]))
      await door.close()
      for (const page of pages) {
        const path = join(folder, `${page.name}-${width}-${theme}.png`)
        const context = page.isSignedIn ? operator : visitor
        await take(context, showcase.origin + page.path, path).catch((error: unknown) => {
          console.error(page.name, error)
        })
      }
      await Promise.all([visitor.close(), operator.close()])
      console.log(`${pages.length} pages, ${width} px, ${theme}`)
    }
  }
}

const open = (browser: Browser, look: { theme: 'light' | 'dark'; width: number }) =>
  browser.newContext({
    colorScheme: look.theme,
    viewport: { width: look.width, height: look.width > 1000 ? 860 : 844 },
    reducedMotion: 'reduce',
  })

async function take(context: BrowserContext, url: string, path: string): Promise<void> {
  const page = await context.newPage()
  try {
    await page.goto(url)
    await page.evaluate('document.fonts.ready')
    await page.waitForTimeout(600)
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    const viewport = page.viewportSize() ?? { width: 1280, height: 860 }
    const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(height, maxHeight) }
    await page.screenshot({ path, fullPage: true, clip })
  } finally {
    await page.close()
  }
}
