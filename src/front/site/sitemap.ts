import type { SiteStore } from './store.ts'

/** Addresses in one file at most. */
export const pageMax = 5000
/** Files of receipts at most: the newest ones. */
export const pagesMax = 10

/** Behind every id of a receipt. */
const end = `rcpt_${'z'.repeat(26)}`

/** What a search engine is told of: addresses, or the files that hold them where there are many. */
export type Sitemap = { kind: 'addresses' | 'files'; paths: string[] }

type Site = Pick<SiteStore, 'publicReceipts' | 'publicPassports' | 'lastOfPage'>

/** All of it, in one file while it fits. `pages` are those that are there for everybody. */
export async function readSitemap(site: Site, pages: readonly string[]): Promise<Sitemap> {
  const receipts = await site.publicReceipts(end, pageMax)
  const passports = await site.publicPassports(pageMax)
  const paths = [...pages, ...passports.map(toPassport), ...receipts.map(toReceipt)]
  if (paths.length <= pageMax) return { kind: 'addresses', paths }
  return { kind: 'files', paths: ['pages', 'passports', ...(await receiptFiles(site))].map(toFile) }
}

/** One of the files; undefined when there is none of that name. */
export async function readSitemapFile(
  site: Site,
  name: string,
  pages: readonly string[],
): Promise<Sitemap | undefined> {
  if (name === 'pages') return { kind: 'addresses', paths: [...pages] }
  if (name === 'passports') {
    return { kind: 'addresses', paths: (await site.publicPassports(pageMax)).map(toPassport) }
  }
  const before = /^receipts(?:-([0-9a-hjkmnp-tv-z]{10}))?$/.exec(name)
  if (!before) return undefined
  const from = before[1] === undefined ? end : boundOf(before[1])
  return { kind: 'addresses', paths: (await site.publicReceipts(from, pageMax)).map(toReceipt) }
}

/**
 * The names of the files of receipts: by the moment that an id begins with, which says nothing of
 * a receipt that is taken back. Those of one moment may stand in two of them.
 */
async function receiptFiles(site: Site): Promise<string[]> {
  const names = ['receipts']
  let before = end
  while (names.length < pagesMax) {
    const last = await site.lastOfPage(before, pageMax)
    if (last === undefined) return names
    const moment = last.slice('rcpt_'.length, 'rcpt_'.length + 10)
    const bound = boundOf(moment)
    // More of one millisecond than a file holds: what is older is left out.
    if (bound >= before) return names
    before = bound
    names.push(`receipts-${moment}`)
  }
  return names
}

/** Behind every id of that moment and before those of the next. */
const boundOf = (moment: string): string => `rcpt_${moment}${'z'.repeat(16)}`

const toReceipt = (id: string): string => `/receipts/${id}`
const toPassport = (handle: string): string => `/passports/${handle}`
const toFile = (name: string): string => `/sitemap/${name}.xml`
