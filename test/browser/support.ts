import { source as axeSource, type RunOptions } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { isNightly } from '../support/nightly.ts'

/** 320 px is the narrowest screen that WCAG 2.2 asks for without scrolling sideways. */
export type Look = { theme: 'light' | 'dark'; width: 320 | 390 | 1280; script: boolean }

const everyLook: Look[] = [true, false].flatMap((script) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    ([390, 1280] as const).map((width) => ({ theme, width, script })),
  ),
)

/** Light and wide, dark and narrow: each theme and each width once, with script and without. */
export const fewLooks: Look[] = everyLook.filter(({ theme, width }) =>
  theme === 'dark' ? width === 390 : width === 1280,
)

/** The looks that a page is inspected in; the nightly tier takes all eight combinations. */
export const looks: Look[] = isNightly ? everyLook : fewLooks

export const lookName = ({ theme, width, script }: Look): string =>
  `${theme}, ${width} px${script ? '' : ', no script'}`

type Cookie = { name: string; value: string }

type Visit = Look & {
  /** Of the signed-in person. */
  cookies?: Cookie[]
  /** Where a picture of the page goes. */
  shot?: string
  /** What is done before the page is judged. */
  act?: (page: Page) => Promise<void>
}

/** The largest page: everything it loads, compressed. */
export const maxBytes = 75_000

/**
 * Opens a page as one reader would and says what is wrong with it: nothing, or one line for each
 * violation of WCAG 2.2 AA, shift of the layout, animation that runs although the reader wants none,
 * button that needs a script where there is none, console error, violation of the CSP, foreign
 * request, and for scrolling sideways or weighing too much. A fault is one that two visits show:
 * what a loaded machine did once is no fault of the page.
 */
export async function inspectPage(browser: Browser, url: string, visit: Visit): Promise<string[]> {
  const found = await look(browser, url, visit)
  if (found.length === 0) return found
  console.warn(`${url} ${lookName(visit)}, looked at again for:`, found)
  return look(browser, url, visit)
}

async function look(browser: Browser, url: string, visit: Visit): Promise<string[]> {
  const context = await openContext(browser, url, visit)
  try {
    const page = await context.newPage()
    const faults = listen(page, new URL(url).origin)
    // Not until the network is idle: a page with live parts never is.
    await page.goto(url)
    await visit.act?.(page)
    // Fonts swap and modules run after the load: what shifts then counts too.
    await page.evaluate('document.fonts.ready')
    await page.waitForTimeout(150)
    const bytes = await faults.bytes()
    const found = [...faults.lines]
    if (bytes > maxBytes) found.push(`${bytes} bytes compressed`)
    found.push(...(await sidewaysScroll(page)))
    if (visit.script) {
      found.push(...(await shifts(page)))
      found.push(...(await axe(page, visit.width === 320 ? narrowOptions : axeOptions)))
    } else {
      found.push(...(await deadButtons(page)))
    }
    found.push(...(await animations(page)))
    found.push(...(await shape(page)))
    // Last: taking the whole page changes its size.
    if (visit.shot) await page.screenshot({ path: visit.shot, fullPage: true })
    return found
  } finally {
    await context.close()
  }
}

async function openContext(browser: Browser, url: string, visit: Visit): Promise<BrowserContext> {
  const context = await browser.newContext({
    javaScriptEnabled: visit.script,
    colorScheme: visit.theme,
    viewport: { width: visit.width, height: visit.width < 1000 ? 844 : 860 },
    reducedMotion: 'reduce',
  })
  const { origin } = new URL(url)
  const cookies = (visit.cookies ?? []).map((cookie) => ({ ...cookie, url: origin }))
  if (cookies.length > 0) await context.addCookies(cookies)
  if (visit.script) await context.addInitScript(watchShifts)
  return context
}

/** Runs in the page, before anything else does. */
function watchShifts(): void {
  const shifted: number[] = []
  Object.assign(window, { shifted })
  new PerformanceObserver((list) => {
    const entries = list.getEntries() as unknown as { value: number }[]
    shifted.push(...entries.map(({ value }) => value))
  }).observe({ type: 'layout-shift', buffered: true })
}

function listen(page: Page, origin: string) {
  const lines: string[] = []
  const sizes: Promise<number>[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      lines.push(`console: ${message.text()}`)
    }
  })
  page.on('pageerror', (error) => lines.push(`error: ${error.message}`))
  page.on('dialog', async (dialog) => {
    lines.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) lines.push(`foreign: ${url}`)
  })
  page.on('requestfinished', (request) => {
    // A page may close while its last answer is still measured.
    const bytes = request.sizes().then((size) => size.responseBodySize)
    sizes.push(bytes.catch(() => 0))
  })
  return {
    lines,
    bytes: async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
  }
}

async function sidewaysScroll(page: Page): Promise<string[]> {
  const sizes = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  return sizes[0] > sizes[1] ? [`scrolls sideways: ${sizes[0]} px in ${sizes[1]} px`] : []
}

/** What moves on a page whose reader wants no motion. */
const animations = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`document.getAnimations()
    .filter((one) => one.playState === 'running' && one.effect.getComputedTiming().duration > 1)
    .map((one) => 'animation: ' + (one.animationName ?? one.transitionProperty) + ' of ' +
      one.effect.target?.outerHTML.slice(0, 80))`)

/**
 * Buttons in sight that do nothing without script: of no form, and opening nothing by themselves.
 * Those of wallets are only in the gallery: on the page a script makes them.
 */
const deadButtons = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('button')]
    .filter((one) => one.checkVisibility() && !one.form && !one.popoverTargetElement && !one.closest('.wallets'))
    .map((one) => 'needs a script: ' + one.outerHTML.slice(0, 120))`)

async function shifts(page: Page): Promise<string[]> {
  const sum = await page.evaluate<number>('window.shifted.reduce((sum, one) => sum + one, 0)')
  return sum >= 0.01 ? [`layout shifted by ${sum}`] : []
}

/**
 * All rules of WCAG 2.2 AA and the best practices. `target-size` is off by default, also where its
 * tag is named.
 */
const axeOptions = {
  resultTypes: ['violations'],
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'target-size': { enabled: true } },
} satisfies RunOptions

/** At 320 px only what the width decides: all other rules were asked at the other widths. */
const narrowOptions: RunOptions = isNightly
  ? axeOptions
  : { resultTypes: ['violations'], runOnly: ['target-size', 'scrollable-region-focusable'] }

/**
 * Lists each element of a page that breaks one of these rules. axe runs in the page itself and
 * gives text alone: what @axe-core/playwright carries over besides takes three times as long as the rules.
 */
export async function axe(page: Page, options: RunOptions = axeOptions): Promise<string[]> {
  await page.evaluate(axeSource)
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then((found) =>
    found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => 'axe ' + id + ': ' + html + ' ' + failureSummary)))`)
}

/** One h1, one main, and nothing inline that the CSP would have to allow. */
async function shape(page: Page): Promise<string[]> {
  const counts = await page.evaluate<Record<string, number>>(`({
    h1: document.querySelectorAll('h1').length,
    main: document.querySelectorAll('main').length,
    skip: document.querySelectorAll('a.skip').length,
  })`)
  return Object.entries(counts).flatMap(([name, count]) =>
    count === 1 ? [] : [`${count} elements of ${name}`],
  )
}
