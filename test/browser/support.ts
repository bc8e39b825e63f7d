import type { RunOptions } from 'axe-core'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { isNightly } from '../support/nightly.ts'
import { axe, axeOptions, turnedOptions } from './axe.ts'

/** 320 px is the narrowest screen that WCAG 2.2 asks for without scrolling sideways. */
type Sight = { theme: 'light' | 'dark'; width: 320 | 390 | 1280 }

export type Look = Sight & {
  script: boolean
  /** How the open page is shown after that, and judged once more. */
  next?: Sight
}

const everyLook: Look[] = [true, false].flatMap((script) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    ([390, 1280] as const).map((width) => ({ theme, width, script })),
  ),
)

/** Each look is loaded by itself in the nightly tier and for pictures. */
const isLoadedEach = isNightly || process.env['SHOTS'] !== undefined

/**
 * Light and wide, dark and narrow: each theme and each width once, with script and without. A page
 * is loaded once for both: loading costs more than looking.
 */
export const fewLooks: Look[] = isLoadedEach
  ? everyLook.filter(({ theme, width }) => (theme === 'dark' ? width === 390 : width === 1280))
  : [true, false].map((script) => {
      return { theme: 'light', width: 1280, script, next: { theme: 'dark', width: 390 } }
    })

/** The looks that a page is inspected in; the nightly tier takes all eight combinations. */
export const looks: Look[] = isNightly ? everyLook : fewLooks

/** For pages made of the same parts: each takes one look with script, in turns with the next. */
export const lookInTurn = (index: number): Look => ({
  ...(index % 2 === 0 ? { theme: 'light', width: 1280 } : { theme: 'dark', width: 390 }),
  script: true,
})

const sightName = ({ theme, width }: Sight): string => `${theme}, ${width} px`

export const lookName = ({ script, next, ...sight }: Look): string =>
  `${sightName(sight)}${next ? `; ${sightName(next)}` : ''}${script ? '' : ', no script'}`

type Cookie = { name: string; value: string }

type Visit = Look & {
  /** Of the signed-in person. */
  cookies?: Cookie[]
  /** Where a picture of the page goes. */
  shot?: string
  /** Made of the same parts as other pages, which axe judges; the nightly tier judges all. */
  isAlike?: boolean
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
  const found = await (isForUsedPage(url, visit) ? lookAgain : look)(browser, url, visit)
  if (found.every((line) => line.startsWith(refused))) return found
  console.warn(`${url} ${lookName(visit)}, looked at again for:`, found)
  return look(browser, url, visit)
}

/** The browser's note of a page that says no, as some are meant to: a second look shows it again. */
const refused = 'console: Failed to load resource: the server responded with a status of 4'

async function look(browser: Browser, url: string, visit: Visit): Promise<string[]> {
  const context = await openContext(browser, url, visit)
  try {
    return await lookAt(await context.newPage(), url, visit)
  } finally {
    await context.close()
  }
}

/** What is wrong with a page that was not opened yet. */
async function lookAt(page: Page, url: string, visit: Visit): Promise<string[]> {
  const faults = listen(page, new URL(url).origin)
  try {
    // Not until the network is idle: a page with live parts never is.
    await page.goto(url)
    await visit.act?.(page)
    // Fonts swap and modules run after the load: what shifts then counts too.
    await page.evaluate('document.fonts.ready')
    await page.waitForTimeout(150)
    const bytes = await faults.bytes()
    const found: string[] = []
    if (bytes > maxBytes) found.push(`${bytes} bytes compressed`)
    if (visit.script) found.push(...(await shifts(page)))
    found.push(...(await judge(page, visit, axeOptions)))
    found.push(...(await shape(page)))
    const { next } = visit
    if (next) {
      await turn(page, next)
      const more = await judge(page, visit, turnedOptions)
      found.push(...more.map((line) => `${sightName(next)}: ${line}`))
    }
    found.unshift(...faults.lines)
    // Last: taking the whole page changes its size.
    if (visit.shot) await page.screenshot({ path: visit.shot, fullPage: true })
    return found
  } finally {
    page.removeAllListeners()
  }
}

/** What is wrong with an open page as it is shown now. */
async function judge(page: Page, visit: Visit, options: RunOptions): Promise<string[]> {
  return [
    ...(await sidewaysScroll(page)),
    ...(isForAxe(visit) ? await axe(page, options) : []),
    ...(visit.script ? [] : await deadButtons(page)),
    ...(await animations(page)),
  ]
}

/** Shows an open page in another theme and width. */
async function turn(page: Page, { theme, width }: Sight): Promise<void> {
  await page.emulateMedia({ colorScheme: theme })
  await page.setViewportSize(sizeOf(width))
  const query = `(width: ${width}px) and (prefers-color-scheme: ${theme})`
  while (!(await page.evaluate<boolean>(`matchMedia('${query}').matches`))) await Bun.sleep(10)
}

const sizeOf = (width: number) => ({ width, height: width < 1000 ? 844 : 860 })

/** An action leaves a page behind that the next visit would notice; a fragment alone loads nothing. */
const isForUsedPage = (url: string, { act, shot }: Visit): boolean =>
  !act && shot === undefined && !isNightly && !url.includes('#')

type UsedPage = { page: Page; devtools: CDPSession }

/** The pages of a browser that wait for their next visit, with script and without. */
const usedPages = new WeakMap<Browser, Map<boolean, UsedPage>>()

/**
 * Looks from a page that was elsewhere before: most of the time of a first visit goes into a process
 * for its renderer, which then compiles the same scripts. Cookies and storage are emptied before each
 * visit and no cache is used, so that every visit is a first one to the service. A fault is looked at
 * again in a context of its own.
 */
async function lookAgain(browser: Browser, url: string, visit: Visit): Promise<string[]> {
  const waiting = usedPages.get(browser) ?? new Map<boolean, UsedPage>()
  usedPages.set(browser, waiting)
  const used = waiting.get(visit.script) ?? (await openUsedPage(browser, url, visit))
  // Two visits at once take a page each.
  waiting.delete(visit.script)
  const { page, devtools } = used
  try {
    const { origin } = new URL(url)
    await page.context().clearCookies()
    await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await addCookies(page.context(), origin, visit)
    await page.emulateMedia({ colorScheme: visit.theme })
    await page.setViewportSize(sizeOf(visit.width))
    const found = await lookAt(page, url, visit)
    const other = waiting.get(visit.script)
    if (other) await page.context().close()
    else waiting.set(visit.script, used)
    return found
  } catch (error) {
    await page.context().close()
    throw error
  }
}

async function openUsedPage(browser: Browser, url: string, visit: Visit): Promise<UsedPage> {
  const context = await openContext(browser, url, visit)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
  return { page, devtools }
}

async function addCookies(context: BrowserContext, origin: string, visit: Visit): Promise<void> {
  const cookies = (visit.cookies ?? []).map((cookie) => ({ ...cookie, url: origin }))
  if (cookies.length > 0) await context.addCookies(cookies)
}

async function openContext(browser: Browser, url: string, visit: Visit): Promise<BrowserContext> {
  const context = await browser.newContext({
    javaScriptEnabled: visit.script,
    colorScheme: visit.theme,
    viewport: sizeOf(visit.width),
    reducedMotion: 'reduce',
  })
  await addCookies(context, new URL(url).origin, visit)
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

/** At 320 px the width alone is asked about: all rules were asked at the other widths. */
const isForAxe = ({ script, width, isAlike }: Visit): boolean =>
  script && (isNightly || (width !== 320 && !isAlike))

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
