import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { PassportRow, ShareRow } from '../../../src/storage/db/schema/schema.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, testAccount, type World, world } from '../../support/world.ts'

const at = Date.UTC(2026, 10, 21)
/** Ids of one receipt a millisecond, in their order. */
const receiptId = (i: number): string =>
  `rcpt_01k7qz${String(1000 + Math.floor(i / 2)).padStart(4, '0')}${String(i).padStart(16, '0')}`

const share = (i: number, visibility: ShareRow['visibility']): ShareRow => ({
  receiptId: receiptId(i),
  accountId: testAccount,
  visibility,
  sections: [],
  revealed: {},
  digest: new Uint8Array(32),
  createdAt: at,
  updatedAt: at,
})

const passport = (handle: string, status: PassportRow['status']): PassportRow => ({
  handle,
  id: `psp_${handle}`,
  accountId: testAccount,
  displayName: handle,
  kind: 'agent',
  bio: '',
  links: [],
  status,
  ownerShown: false,
  createdAt: at,
  updatedAt: at,
  publishedAt: at,
  retiredAt: null,
  runs: 0,
  succeeded: 0,
  spent: 0n,
  activeDays: 0,
  firstAt: null,
  lastAt: null,
  publicReceipts: 0,
})

describe.each(engines)('search engines on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine })
  }, 60_000)
  afterAll(() => w?.stop())

  const put = (shares: ShareRow[], passports: PassportRow[] = []) =>
    w.db.write(function* () {
      for (let i = 0; i < shares.length; i += 1000) {
        yield* insert(w.db.tables.shares, shares.slice(i, i + 1000))
      }
      yield* insert(w.db.tables.passports, passports)
    })
  const read = async (path: string) => {
    const answer = await w.call(path)
    const text = await answer.text()
    const places = [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, loc = '']) => loc)
    return { answer, text, paths: places.map((loc) => loc.slice(w.origin.length)), places }
  }

  test('robots.txt keeps them out of the pages of one person, and names the sitemap', async () => {
    const { answer, text } = await read('/robots.txt')
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(text.split('\n')).toEqual([
      'User-agent: *',
      'Disallow: /api/',
      'Disallow: /dashboard',
      `Sitemap: ${w.origin}/sitemap.xml`,
      '',
    ])
  })

  test('the sitemap names pages, public receipts and published passports, and no others', async () => {
    const passports = (['draft', 'public', 'hidden', 'retired'] as const).map((status) =>
      passport(`is-${status}`, status),
    )
    await put([share(0, 'unlisted'), share(1, 'public'), share(2, 'unlisted')], passports)
    const { answer, text, paths, places } = await read('/sitemap.xml')
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(text).toStartWith('<?xml version="1.0" encoding="UTF-8"?>\n<urlset ')
    expect(places.every((loc) => loc.startsWith(`${w.origin}/`))).toBe(true)
    expect(paths).toContain('/')
    expect(paths).toContain('/models')
    expect(paths.filter((path) => path.startsWith('/receipts/'))).toEqual([
      `/receipts/${receiptId(1)}`,
    ])
    expect(paths.filter((path) => path.startsWith('/passports/'))).toEqual(['/passports/is-public'])
    expect(paths.some((path) => path.startsWith('/dashboard'))).toBe(false)
    for (const path of paths.filter((one) => !one.startsWith('/receipts/rcpt'))) {
      if (!path.startsWith('/passports/is-')) expect((await w.call(path)).status).toBe(200)
    }
  })

  test('above 5,000 it names files, which hold each of them, none unlisted', async () => {
    const many = Array.from({ length: 11_000 }, (_, i) =>
      share(i + 10, i % 11 === 0 ? 'unlisted' : 'public'),
    )
    await put(many)
    const { text, paths: files } = await read('/sitemap.xml')
    expect(text).toContain('<sitemapindex ')
    expect(files.slice(0, 3)).toEqual([
      '/sitemap/pages.xml',
      '/sitemap/passports.xml',
      '/sitemap/receipts.xml',
    ])
    const found = new Set<string>()
    for (const file of files) {
      const { answer, paths } = await read(file)
      expect([answer.status, paths.length <= 5000]).toEqual([200, true])
      for (const path of paths) found.add(path)
    }
    const listed = many.filter(({ visibility }) => visibility === 'public')
    const missed = listed.filter(({ receiptId: id }) => !found.has(`/receipts/${id}`))
    expect(missed).toEqual([])
    const hidden = many.filter(({ visibility }) => visibility === 'unlisted')
    expect(hidden.filter(({ receiptId: id }) => found.has(`/receipts/${id}`))).toEqual([])
  }, 60_000)

  test.each([
    '/sitemap/none.xml',
    '/sitemap/receipts',
    '/sitemap/receipts-x.xml',
    '/sitemap/..xml',
  ])('404: %s', async (path) => {
    expect((await w.call(path)).status).toBe(404)
  })
})
