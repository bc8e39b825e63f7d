import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { type Scope, scopes } from '../../src/access/keys/key.ts'
import { receiptIdOf } from '../../src/proof/receipts/receipt.ts'
import { browser as caller, signInWith } from '../access/accounts/wallet.ts'
import { shareAs } from '../front/explorer/world.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { lastRun, modelsToml, pricedBuiltins } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { testAccount, usd, type World, world } from '../support/world.ts'
import { axe } from './axe.ts'

setDefaultTimeout(60_000)

describe.skipIf(noChromium)('what surrounds and lists, in a real browser', () => {
  let stub: StubUpstream
  let w: World
  let browser: Browser
  let cookies: { name: string; value: string }[]
  let fleet: string
  let ended: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = `admins = ["${testAccount}"]\n${pricedBuiltins}`
    w = await world({ toml: toml + modelsToml(stub.url, ['status-429']) })
    const own = caller(w)
    await signInWith(own)
    cookies = [...own.jar].map(([name, value]) => ({ name, value }))
    const all: Scope[] = [...scopes]
    const cap = { balance: 5n * usd, capWindow: 'month' } as const
    const key = await w.key({ name: 'research-fleet', scopes: all, ...cap })
    fleet = key.key.id
    await w.key({ name: 'crawler-01, whose name is rather long', parentId: fleet })
    for (const model of ['counterfoil/echo-1', 'stub/status-429', 'counterfoil/echo-1']) {
      await w.call('/v1/runs', { key: key.secret, json: { model, input: 'hello' } })
      ended = (await lastRun(w)).id
      // The explorer folds private runs into one line, so each is made public.
      await shareAs(w, key.secret, receiptIdOf(ended), { visibility: 'public' })
    }
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await w?.stop()
    await stub?.stop()
  })

  async function at<T>(
    path: string,
    [width, height]: [width: number, height: number],
    look: (page: Page) => Promise<T>,
    javaScriptEnabled = true,
  ): Promise<T> {
    const context = await browser.newContext({ viewport: { width, height }, javaScriptEnabled })
    try {
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: w.origin })))
      const page = await context.newPage()
      await page.goto(w.origin + path)
      return await look(page)
    } finally {
      await context.close()
    }
  }

  const tables = [
    '/dashboard',
    '/dashboard/runs',
    '/dashboard/receipts',
    '/dashboard/keys',
    '/dashboard/usage?group_by=key,model',
    '/dashboard/statement?by=movement',
    '/dashboard/sessions',
    '/dashboard/admin',
    '/dashboard/admin/models',
    '/dashboard/admin/audit-log',
    '/explorer',
    '/models',
    '/plans',
  ]

  test.each(tables)('no column of %s is cut at any width', async (path) => {
    const cut = await at(path, [1280, 800], async (page) => {
      const found: string[] = []
      for (const width of [320, 390, 480, 639, 700, 800, 930, 1024, 1150, 1280, 1600]) {
        await page.setViewportSize({ width, height: 800 })
        for (const one of await page.evaluate<string[]>(overflowing)) found.push(`${width}: ${one}`)
      }
      return found
    })
    expect(cut).toEqual([])
  })

  test('? lists the keys, and g with a letter goes to a page, but not from a field', async () => {
    await at('/dashboard', [1280, 800], async (page) => {
      await page.locator('.spine').waitFor()
      await page.keyboard.press('?')
      const keys = page.getByRole('dialog', { name: 'Keys' })
      await keys.getByText('g r').waitFor()
      expect(await axe(page)).toEqual([])
      await page.keyboard.press('Escape')
      await keys.waitFor({ state: 'detached' })
      await page.keyboard.type('gk')
      await page.waitForURL('**/dashboard/keys')
      await page.goto(`${w.origin}/dashboard/keys/new`)
      await page.locator('input:focus').waitFor()
      await page.keyboard.type('gr/?')
      expect(await page.locator('input:focus').inputValue()).toBe('gr/?')
    })
  })

  test('an unknown run keeps the frame of who is signed in, and offers ways on', async () => {
    const [status, here, ways] = await at(
      '/dashboard/runs/run_unknown',
      [1280, 800],
      async (page) => [
        await page.evaluate<number>('performance.getEntriesByType("navigation")[0].responseStatus'),
        await page.locator('.spine [aria-current]').getAttribute('href'),
        await page.getByRole('main').getByRole('link').allTextContents(),
      ],
    )
    expect([status, here, ways]).toEqual([
      404,
      '/dashboard/runs',
      ['Overview', 'Find a run by its id', 'Docs'],
    ])
  })

  test.each([
    ['/dashboard', '#recent-runs tbody tr'],
    ['/dashboard/runs', '#runs tbody tr:not(.day)'],
    ['/dashboard/receipts', '#receipts tbody tr'],
    ['/dashboard/keys', '#all-keys tbody tr'],
    ['/explorer', '#results tr:not([data-fold])'],
  ])(
    'on a phone each row of %s shows its cost no higher than what it is, state and time below',
    async (path, rows) => {
      const seen = await at(path, [390, 844], (page) =>
        page.locator(rows).evaluateAll((all) =>
          all.map((row) => {
            const top = (place: string) => {
              const box = row.querySelector(`[data-at="${place}"]`)?.getBoundingClientRect()
              return box && box.height > 0 ? box.top : undefined
            }
            const what = top('what') ?? Number.NaN
            const below = ['state', 'when'].filter((place) => (top(place) ?? 0) > what + 12)
            return [...((top('cost') ?? 0) >= what - 12 ? ['cost'] : []), ...below].join(' ')
          }),
        ),
      )
      expect(seen.length).toBeGreaterThan(1)
      expect([...new Set(seen)]).toEqual(['cost state when'])
    },
  )

  test.each(['/dashboard/runs', '/dashboard/keys', '/dashboard', '/explorer'])(
    'when each row of %s was is in sight at every width',
    async (path) => {
      await at(path, [1280, 800], async (page) => {
        for (const width of [320, 640, 800, 930, 1030, 1110, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          const unseen = page.locator('main td[data-at="when"]').filter({ visible: false })
          expect(await unseen.count()).toBe(0)
        }
      })
    },
  )

  test('below 1100 px the rail is icons, named beside them for the pointer and the keyboard', async () => {
    await at('/dashboard', [800, 700], async (page) => {
      const rail = page.getByRole('navigation', { name: 'Main' })
      expect((await rail.boundingBox())?.width).toBe(56)
      const runs = rail.getByRole('link', { name: 'Runs' })
      const width = async () => (await runs.locator('.lb').boundingBox())?.width
      expect(await width()).toBe(1)
      await runs.hover()
      expect(await width()).toBeGreaterThan(40)
      await page.mouse.move(700, 600)
      await runs.press('Shift+Tab')
      await page.keyboard.press('Tab')
      expect(await width()).toBeGreaterThan(40)
      await rail.getByRole('button', { name: 'Sign out' }).waitFor()
      await rail.locator('summary', { has: page.locator('.dot') }).click()
      await rail.getByText('Version').waitFor()
    })
  })

  test('amounts of a column align at the point', async () => {
    const ends = await at('/dashboard/runs', [1280, 800], (page) =>
      page.locator('#runs td.num .amount').evaluateAll((all) =>
        all.map((amount) => {
          const range = document.createRange()
          const nodes = [...amount.childNodes].filter((node) => node.nodeType === 3) as Text[]
          const last = nodes.at(-1) as Text
          range.setStart(last, last.length)
          return Math.round(range.getBoundingClientRect().left)
        }),
      ),
    )
    expect(ends.length).toBe(3)
    expect(new Set(ends).size).toBe(1)
  })

  test('the rail has at most ten entries, no icon twice, counts, and its foot in sight', async () => {
    await at('/dashboard/runs', [1280, 800], async (page) => {
      const rail = page.getByRole('navigation', { name: 'Main' })
      const entries = rail.getByRole('listitem')
      expect(await entries.count()).toBeLessThanOrEqual(10)
      const icons = await entries
        .locator('path')
        .evaluateAll((all) => all.map((path) => path.getAttribute('d')))
      expect(new Set(icons).size).toBe(icons.length)
      expect(await rail.getByRole('link', { name: 'Runs' }).textContent()).toBe('Runs3')
      expect(await rail.getByRole('link', { name: 'Keys' }).textContent()).toBe('Keys2')
      await rail.locator('summary', { has: page.locator('.dot') }).click()
      for (const name of ['Sign out', 'Dark']) {
        const box = await rail.getByRole('button', { name }).boundingBox()
        expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(800)
      }
    })
  })

  test('the pages that an entry of the rail holds are one click apart', async () => {
    await at(
      '/dashboard/statement',
      [1280, 800],
      async (page) => {
        await page.getByRole('navigation', { name: 'Billing' }).getByText('Plan').click()
        await page.waitForURL('**/dashboard/plan')
        const rail = page.getByRole('navigation', { name: 'Main' })
        expect(await rail.locator('[aria-current]').textContent()).toBe('Billing')
        await rail.getByRole('link', { name: 'Settings' }).click()
        await page.getByRole('link', { name: 'Sessions' }).first().click()
        await page.waitForURL('**/dashboard/sessions')
        expect(await rail.locator('[aria-current]').textContent()).toBe('Settings')
      },
      false,
    )
  })

  test('a page that does not exist keeps the frame and offers ways on', async () => {
    await at('/dashboard/nowhere/at-all', [390, 844], async (page) => {
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Nothing here')
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      await page.locator('main').getByRole('link', { name: 'Overview' }).click()
      await page.waitForURL('**/dashboard')
    })
  })

  test('a row leads to its run', async () => {
    await at('/dashboard/runs', [390, 844], async (page) => {
      await page.locator(`#${ended} .to`).click()
      await page.waitForURL(`**/dashboard/runs/${ended}`)
    })
  })
})

/** The page, and the tables in it, that are wider than their place. */
const overflowing = `[document.documentElement, ...document.querySelectorAll('.scroll')]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth)
  .map((one) => (one.getAttribute('aria-label') ?? 'page') + ' ' + one.scrollWidth + ' > ' + one.clientWidth)`
