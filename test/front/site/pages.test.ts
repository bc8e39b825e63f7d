import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { type SharingWorld, sharingWorld } from '../../support/sharing.ts'
import { testAccount, type World, world } from '../../support/world.ts'

const asPage = { accept: 'text/html' }
const textOf = async (from: Pick<World, 'call'> | Browser, path: string): Promise<string> =>
  (await from.call(path, { headers: asPage } as never)).text()
const metaOf = (html: string, name: string) =>
  new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(html)?.[1]
const canonicalOf = (html: string) => /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1]

describe('pages for everybody', () => {
  let s: SharingWorld
  let own: Browser
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    own = browser(s.w)
    await signInWith(own)
  }, 60_000)
  afterAll(() => s?.w.stop())

  test.each(['/', '/models', '/plans', '/verify', '/terminal', '/status'])(
    '%s has a title, a description, one address and text for links to it',
    async (path) => {
      const answer = await s.w.call(`${path}?from=elsewhere`, { headers: asPage })
      expect([answer.status, answer.headers.get('x-robots-tag')]).toEqual([200, null])
      const html = await answer.text()
      const title = /<title>([^<]+) · Counterfoil<\/title>/.exec(html)?.[1] ?? ''
      expect(title.length).toBeGreaterThan(3)
      expect(metaOf(html, 'description')?.length).toBeGreaterThan(60)
      expect(canonicalOf(html)).toBe(s.w.origin + path)
      expect(metaOf(html, 'og:url')).toBe(s.w.origin + path)
      expect(metaOf(html, 'og:title')).toBe(`${title} · Counterfoil`)
      expect(metaOf(html, 'og:description')).toBe(metaOf(html, 'description') ?? '')
      expect(html).not.toContain('noindex')
      expect(html).toContain('href="/verify.html"')
    },
  )

  test('pages that are not for search engines say so', async () => {
    for (const path of ['/signin', '/nowhere', '/receipts/rcpt_none']) {
      const html = await textOf(s.w, path)
      expect(metaOf(html, 'robots')).toBe('noindex')
      expect([canonicalOf(html), metaOf(html, 'og:title')]).toEqual([undefined, undefined])
    }
    expect(metaOf(await textOf(own, '/dashboard'), 'robots')).toBe('noindex')
  })

  test('the account shows only to whoever is signed in, as the way to the dashboard', async () => {
    for (const path of ['/', '/models', '/plans', '/verify']) {
      expect(await textOf(s.w, path)).toContain('Connect wallet')
      const html = await textOf(own, path)
      expect(html).toContain('<a class="btn" href="/dashboard">Dashboard</a>')
      expect(html).not.toContain('Connect wallet')
    }
    expect(await textOf(own, '/')).toContain('Open your dashboard')
    expect(await textOf(own, '/plans')).toContain('href="/dashboard/plan"')
    expect(await textOf(s.w, '/plans')).toContain('href="/signin?next=%2Fdashboard%2Fplan"')
  })

  describe('/receipts/:id', () => {
    test('public: for search engines, without what its owner hides', async () => {
      const id = await s.ask('public')
      await s.share(id, { visibility: 'public', sections: ['run'] })
      const html = await textOf(s.w, `/receipts/${id}`)
      expect(html).not.toContain('noindex')
      expect(canonicalOf(html)).toBe(`${s.w.origin}/receipts/${id}`)
      expect(metaOf(html, 'description')).toContain(
        'counterfoil/echo-1, complete. Signed and logged.',
      )
      expect(metaOf(html, 'og:description')).not.toContain('$')
      await s.share(id, { visibility: 'public', sections: ['charge'] })
      const other = metaOf(await textOf(s.w, `/receipts/${id}`), 'og:description') ?? ''
      expect(other).toContain('one run, $0.00')
      expect(other).not.toContain('echo')
    })

    test('unlisted: not for search engines', async () => {
      const id = await s.ask('unlisted')
      await s.share(id, { visibility: 'unlisted' })
      const answer = await s.w.call(`/receipts/${id}`, { headers: asPage })
      expect(answer.headers.get('x-robots-tag')).toBe('noindex')
      const html = await answer.text()
      expect([metaOf(html, 'robots'), metaOf(html, 'og:url')]).toEqual(['noindex', undefined])
    })
  })

  describe('/', () => {
    test('shows the newest public receipt, never another, and none at once when it goes', async () => {
      const shown = await s.ask('shown')
      await s.share(shown, { visibility: 'public' })
      const newer = [await s.ask('unlisted'), await s.ask('private')]
      await s.share(newer[0] ?? '', { visibility: 'unlisted' })
      const html = await textOf(s.w, '/')
      expect(html).toContain(`href="/receipts/${shown}"`)
      expect(html).toContain('Checked by the server')
      expect(html).not.toContain('stampmark')
      for (const id of newer) expect(html).not.toContain(id)
      expect(html).not.toContain(testAccount)
      expect(html).not.toContain(s.key.id)
      await s.share(shown, { visibility: 'private' })
      expect(await textOf(s.w, '/')).not.toContain(shown)
    })

    test('names this server in what is to be copied', async () => {
      const html = await textOf(s.w, '/')
      expect(html).toContain(`export OPENAI_BASE_URL=${s.w.origin}/v1`)
      expect(html).toContain(`counterfoil verify r.json --signer ${s.w.deps.signer.address}`)
      expect(html).toContain('The operator of this server grants it')
    })
  })
})

describe('before the first receipt', () => {
  let w: World
  beforeAll(async () => {
    w = await world({ toml: `${pricedBuiltins}${dear}` })
  })
  afterAll(() => w?.stop())
  const dear = `
[[plans]]
id = "team"
name = "Team <b>"
price_nusd = 90_000_000_001
models = ["acme/*"]
`

  test('/ says that there are none, and makes up no figure', async () => {
    const html = await textOf(w, '/')
    expect(html).toContain('No receipts yet')
    expect(html).not.toContain('in the log</span>')
  })

  test('/models tells prices for a million tokens, the digits below a cent apart', async () => {
    const html = await textOf(w, '/models')
    const { digest } = w.deps.catalogue.priceList
    // It may break into halves.
    expect(html.replaceAll(/<wbr>|<\/?span[^>]*>/g, '')).toContain(digest)
    expect(html).toContain('default@1')
    for (const { id } of w.deps.catalogue.list()) expect(html).toContain(id)
    expect(html).toMatch(/<data class="amount" value="[\d.]+">\$\d+\.\d\d/)
  })

  test('/plans shows every plan as it is configured, as text', async () => {
    const html = await textOf(w, '/plans')
    expect(html).toContain('Team &lt;b&gt;')
    expect(html).toContain('$90.00<small>0000001</small>')
    expect(html).toContain('acme/*')
  })
})
