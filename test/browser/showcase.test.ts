import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pagesOf, type ShownPage } from '../../scripts/showcase/pages.ts'
import { type Showcase, startShowcase } from '../../scripts/showcase/start.ts'
import { createApp } from '../../src/app/routes.ts'
import { wholeApp } from '../../src/web/http/lazy-mount.ts'
import { noAnvil } from '../contracts/anvil.ts'

setDefaultTimeout(120_000)

/** One small showcase, and the promises that every page of it must keep. */
describe.skipIf(noAnvil)('the showcase', () => {
  let showcase: Showcase
  let pages: ShownPage[]
  beforeAll(async () => {
    showcase = await startShowcase({ runs: 40, everyMs: 0 })
    pages = await pagesOf(showcase)
  })
  afterAll(() => showcase?.stop())

  test('the ledger of its month adds up, to the last movement', async () => {
    const { audits, clock, health } = showcase.deps
    expect(await audits.whole(clock.now())).toEqual([])
    expect(health.ledger).toBe('balanced')
  })

  test('it has runs of several models over the month, deposits, anchors and passports', async () => {
    type List<T> = { data: T[] }
    const [operator] = showcase.people
    const own = async <T>(path: string) =>
      ((await operator.portal(path)) as unknown as List<T>).data
    const shown = async <T>(path: string) =>
      ((await (await fetch(showcase.origin + path)).json()) as List<T>).data
    const runs = await own<{ model: string; created_at: string; status: string }>('/runs?limit=100')
    expect(new Set(runs.map(({ model }) => model)).size).toBeGreaterThanOrEqual(4)
    const times = runs.map(({ created_at }) => Date.parse(created_at))
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(20 * 86_400_000)
    const deposits = await own<{ status: string }>('/deposits')
    expect(deposits.map(({ status }) => status)).toEqual(['finalized', 'finalized', 'finalized'])
    const anchors = await shown<{ status: string }>('/v1/anchors')
    expect(anchors.some(({ status }) => status === 'final')).toBe(true)
    expect((await shown('/v1/passports')).length).toBe(3)
    const keys = await own<{ status: string }>('/keys?limit=100')
    expect(new Set(keys.map(({ status }) => status))).toEqual(
      new Set(['usable', 'paused', 'expired']),
    )
  })

  test('it knows an address for every page that the service has', async () => {
    const app = await wholeApp(createApp(showcase.deps))
    const routes = app.routes.filter(({ method, path }) => method === 'GET' && !isFile.test(path))
    const known = new Set(pages.map(({ route }) => route))
    expect(routes.map(({ path }) => path).filter((path) => !known.has(path))).toEqual([])
  })
})

/** What a GET answers that is not a page, or is another address of one. */
const isFile =
  /^\/(v1|api|livez|readyz|assets|openapi|llms|robots|sitemap|docs\.md|r\/)|\.(html|csv|svg|png|ico|webmanifest)$|\/(file|proof|stream)$|\/:handle\/statement$/
