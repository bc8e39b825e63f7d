/** GET /robots.txt and GET /sitemap.xml. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { refuse } from '../../../kernel/refusal.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { readSitemap, readSitemapFile, type Sitemap } from '../sitemap.ts'

/** `/robots.txt` and `/sitemap.xml`: what search engines may read, and where it is. */
export const sitemapApi = ({ site, settings }: Pick<Deps, 'site' | 'settings'>, frame: Frame) => {
  const publicPaths = frame.nav.filter(({ group }) => group === 'Public').map(({ href }) => href)
  const pages = ['/', ...publicPaths]
  return new Elysia({ name: 'sitemap-api' })
    .get('/robots.txt', ({ set }) => {
      set.headers['content-type'] = 'text/plain; charset=utf-8'
      return `User-agent: *
Disallow: /api/
Disallow: /dashboard
Sitemap: ${settings.baseUrl}/sitemap.xml
`
    })
    .get('/sitemap.xml', async ({ set }) => {
      set.headers['content-type'] = xml
      return toXml(await readSitemap(site, pages), settings.baseUrl)
    })
    .get('/sitemap/:file', async ({ params, set }) => {
      const name = /^([\w-]+)\.xml$/.exec(params.file)?.[1]
      const found = name && (await readSitemapFile(site, name, pages))
      if (!found) refuse('not_found')
      set.headers['content-type'] = xml
      return toXml(found, settings.baseUrl)
    })
}

const xml = 'application/xml; charset=utf-8'

function toXml({ kind, paths }: Sitemap, baseUrl: string): string {
  const [whole, one] = kind === 'files' ? ['sitemapindex', 'sitemap'] : ['urlset', 'url']
  const lines = paths.map((path) => `<${one}><loc>${Bun.escapeHTML(baseUrl + path)}</loc></${one}>`)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<${whole} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`,
    ...lines,
    `</${whole}>`,
    '',
  ].join('\n')
}
