/** The sitemap: public addresses, in several files once they are many. */
import type { SiteStore } from './store.ts'

/** Most addresses in one file. */
export const pageMax = 5000
/** Most files of receipts; the oldest are left out. */
export const pagesMax = 10

/** Sorts after every receipt id. */
const end = `rcpt_${'z'.repeat(26)}`

/** Addresses, or the files that hold them. */
export type Sitemap = { kind: 'addresses' | 'files'; paths: string[] }

type Site = Pick<SiteStore, 'publicReceipts' | 'publicPassports' | 'lastOfPage'>

/** The whole sitemap, in one file if it fits; `pages` are the public pages. */
export async function readSitemap(site: Site, pages: readonly string[]): Promise<Sitemap> {
  const receipts = await site.publicReceipts(end, pageMax)
  const passports = await site.publicPassports(pageMax)
  const paths = [...pages, ...passports.map(toPassport), ...receipts.map(toReceipt)]
  if (paths.length <= pageMax) return { kind: 'addresses', paths }
  return { kind: 'files', paths: ['pages', 'passports', ...(await receiptFiles(site))].map(toFile) }
}

/** One file by name; undefined for an unknown name. */
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
 * The names of the receipt files, by the timestamp that ids begin with; so a name reveals nothing
 * about a receipt made private later. Two files can overlap in one millisecond.
 */
async function receiptFiles(site: Site): Promise<string[]> {
  const names = ['receipts']
  let before = end
  while (names.length < pagesMax) {
    const last = await site.lastOfPage(before, pageMax)
    if (last === undefined) return names
    const moment = last.slice('rcpt_'.length, 'rcpt_'.length + 10)
    const bound = boundOf(moment)
    // One millisecond has more receipts than a file holds: older ones are left out.
    if (bound >= before) return names
    before = bound
    names.push(`receipts-${moment}`)
  }
  return names
}

/** Sorts after every id of that timestamp and before those of the next. */
const boundOf = (moment: string): string => `rcpt_${moment}${'z'.repeat(16)}`

const toReceipt = (id: string): string => `/receipts/${id}`
const toPassport = (handle: string): string => `/passports/${handle}`
const toFile = (name: string): string => `/sitemap/${name}.xml`
