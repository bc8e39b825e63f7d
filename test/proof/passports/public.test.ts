import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, type World, world } from '../../support/world.ts'
import { payloads } from '../../web/ui/payloads.ts'
import { arrive, type Person, shown } from './office.ts'

type Listed = { id: string; handle: string; kind: string; track_record: { runs: number } }

describe.each(engines)('GET /v1/passports on %s', (engine) => {
  let w: World
  const names = Array.from({ length: 15 }, (_, i) => `page-${'abcdefghjkmnpqt'[i]}`)
  beforeAll(async () => {
    w = await world({ engine })
    const one = await arrive(w)
    for (const [i, name] of names.entries()) {
      await one.publish(name, { kind: i % 3 === 0 ? 'service' : 'agent' })
    }
    // Half of them equal: the handle decides.
    await setRuns((handle) => names.indexOf(handle) % 4)
  }, 60_000)
  afterAll(() => w.stop())

  const setRuns = (runsOf: (handle: string, before: number) => number) => {
    const { passports } = w.db.tables
    return w.db.write(function* (q) {
      for (const row of yield* rows(q.select().from(passports))) {
        const runs = runsOf(row.handle, row.runs)
        yield* rows(
          q.update(passports).set({ runs }).where(eq(passports.handle, row.handle)).returning(),
        )
      }
    })
  }
  const list = async (query: string) => {
    const answer = await w.call(`/v1/passports${query}`)
    return { status: answer.status, body: await answer.json() }
  }
  /** All pages, with something done between two of them. */
  const walk = async (query: string, between: () => Promise<unknown> = async () => {}) => {
    const found: Listed[] = []
    for (let after = ''; ; ) {
      const { body } = await list(`?limit=4${query}${after}`)
      found.push(...body.data)
      if (!body.has_more) return found
      after = `&after=${body.last_id}`
      await between()
    }
  }

  test('200 without a key and from any origin: newest first, in the list’s envelope', async () => {
    const answer = await w.call('/v1/passports?limit=3')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const body = await answer.json()
    expect(body).toMatchObject({ object: 'list', has_more: true })
    expect(body.data.map(({ handle }: Listed) => handle)).toEqual(names.slice(-3).reverse())
    expect([body.first_id, body.last_id]).toEqual([body.data[0].id, body.data[2].id])
  })

  test('an account is called by its oldest public passport, and by none that is hidden', async () => {
    const [two, none] = [await arrive(w), await arrive(w)]
    await two.publish('name-first')
    w.advance(1000)
    await two.publish('name-second')
    await none.post('', { handle: 'name-draft', display_name: 'A draft', kind: 'agent' })
    const named = () => w.deps.passports.publicNames([two.account, none.account])
    expect(await named()).toEqual(new Map([[two.account, 'The name-first']]))
    await two.post('/name-first/hide')
    expect(await named()).toEqual(new Map([[two.account, 'The name-second']]))
    for (const handle of ['name-first', 'name-second']) await two.post(`/${handle}/retire`)
    expect(await named()).toEqual(new Map())
  })

  test('pages hold each once, also while others come in', async () => {
    const other = await arrive(w)
    let i = 0
    const found = await walk('', async () => other.publish(`late-${'abcd'[i++]}`))
    expect(found.map(({ handle }) => handle)).toEqual([...names].reverse())
    for (const name of ['late-a', 'late-b', 'late-c']) await other.post(`/${name}/hide`)
  })

  test('by runs, equal ones by handle, each once; one that was hidden still says where to go on', async () => {
    const found = await walk('&sort=runs')
    const order = found.map(({ handle, track_record: { runs } }) => [runs, handle] as const)
    expect(order).toHaveLength(names.length)
    const sorted = [...order].sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? 1 : -1))
    expect(order).toEqual(sorted)
  })

  test('by runs, none twice while runs are counted; one that rises past the place is passed over', async () => {
    const ranked = [...names].sort().reverse()
    await setRuns((handle) => ranked.indexOf(handle))
    const busiest = [...ranked].reverse()
    const rising = busiest.at(-2)
    let read = 0
    const found = await walk('&sort=runs', async () => {
      read += 4
      const counted = [...busiest.slice(0, read), rising]
      await setRuns((handle, runs) => (counted.includes(handle) ? runs + 100 : runs))
    })
    expect(found.map(({ handle }) => handle)).toEqual(busiest.filter((name) => name !== rising))
    const { last_id: place } = (await list('?limit=4&sort=runs')).body
    const page = await w.call('/passports?limit=4&sort=runs', { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain(`sort=runs&amp;after=${place}"`)
  })

  test('The public list is narrowed by kind.', async () => {
    const found = await walk('&kind=service')
    expect(found.map(({ handle }) => handle)).toEqual(names.filter((_, i) => i % 3 === 0).reverse())
  })

  test('400 for a limit, kind, order or place that is none', async () => {
    const first = (await list('')).body.first_id
    const wrong = [
      '?limit=0',
      '?limit=101',
      '?kind=robot',
      '?sort=oldest',
      '?after=',
      '?after=psp_x',
      '?sort=runs&after=psp_x.1',
      `?after=${first}.1`,
      `?sort=runs&after=${first}.01`,
      `?sort=runs&after=${first}.-1`,
      `?sort=runs&after=${first}.1.2`,
      `?sort=runs&after=${first}.${'9'.repeat(16)}`,
    ]
    for (const query of [
      ...wrong,
      '?after=key_00000000000000000000000000',
      "?after='--",
      '?kind=a&kind=b',
    ]) {
      const { status, body } = await list(query)
      expect([query, status, body.error.type]).toEqual([query, 400, 'invalid_request'])
    }
    expect((await list('?after=psp_00000000000000000000000000')).status).toBe(400)
  })

  test.each([
    '..',
    '%2e%2e',
    '%00',
    'page-a%00',
    'PAGE-A',
    'Page-a',
    '%ff',
    'a%2fb',
    'page-a%20',
    "'",
    'page-a.json',
    '%E2%80%AEa',
    'a'.repeat(5000),
    '__proto__',
    'constructor',
  ])('404 for the handle %p, in JSON and as a page', async (handle) => {
    for (const path of ['/v1/passports/', '/passports/', '/dashboard/passports/']) {
      const headers = { accept: path.startsWith('/v1') ? 'application/json' : 'text/html' }
      const answer = await w.call(path + handle, { headers, redirect: 'manual' })
      expect(answer.status).toBeLessThan(500)
      if (path !== '/dashboard/passports/') expect([200, 404]).toContain(answer.status)
      if (handle !== '..' && handle !== '%2e%2e' && !path.startsWith('/dash')) {
        expect(answer.status).toBe(404)
      }
    }
    expect(w.logged.filter(({ event }) => event === 'request.failed')).toEqual([])
  })

  test('405 for any other method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await w.call('/v1/passports', { method })).status).toBe(405)
      expect((await w.call('/v1/passports/page-a', { method })).status).toBe(405)
    }
  })

  test('400 for another format or another wish for receipts', async () => {
    expect((await shown(w, 'page-a', '?format=xml')).status).toBe(400)
    expect((await shown(w, 'page-a', '?receipts=many')).status).toBe(400)
  })
})

describe('?format=erc8004', () => {
  let w: World
  let one: Person
  beforeAll(async () => {
    w = await world()
    one = await arrive(w)
  })
  afterAll(() => w.stop())

  /** What ERC-8004 says of the file's structure. */
  const faultsOf = (file: Record<string, unknown>): string[] => {
    const isText = (value: unknown) => typeof value === 'string' && value !== ''
    const isList = (value: unknown): value is Record<string, unknown>[] => Array.isArray(value)
    const services = [file['services'], file['endpoints']]
    const checks: [string, boolean][] = [
      ['type', file['type'] === 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1'],
      ['name', isText(file['name'])],
      ['description', isText(file['description'])],
      ['image', URL.canParse(String(file['image']))],
      [
        'services',
        services.every(
          (list) =>
            isList(list) && list.every((each) => isText(each['name']) && isText(each['endpoint'])),
        ),
      ],
      ['active', typeof file['active'] === 'boolean'],
      ['x402Support', typeof file['x402Support'] === 'boolean'],
      [
        'registrations',
        isList(file['registrations']) &&
          file['registrations'].every(
            (each) =>
              typeof each['agentId'] === 'number' &&
              /^eip155:\d+:0x[0-9a-fA-F]{40}$/.test(String(each['agentRegistry'])),
          ),
      ],
      [
        'supportedTrust',
        Array.isArray(file['supportedTrust']) && file['supportedTrust'].every(isText),
      ],
    ]
    return checks.filter(([, holds]) => !holds).map(([name]) => name)
  }

  test('is the standard’s registration file, also without a bio, and its addresses answer', async () => {
    await one.publish('plain-one')
    await one.publish('full-one', {
      bio: 'Finds tides.',
      links: ['https://example.com/'],
      show_owner: true,
    })
    for (const handle of ['plain-one', 'full-one']) {
      const { status, body } = await shown(w, handle, '?format=erc8004')
      expect(status).toBe(200)
      expect(faultsOf(body)).toEqual([])
      expect(body.endpoints).toEqual(body.services)
      const image = await fetch(body.image)
      expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
      const own = body.services.slice(0, 2) as { endpoint: string }[]
      for (const { endpoint } of own) expect((await fetch(endpoint)).status).toBe(200)
    }
    const { body } = await shown(w, 'full-one', '?format=erc8004')
    expect(body.services.at(-1)).toEqual({
      name: 'agentWallet',
      endpoint: `eip155:4663:${one.wallet.address}`,
    })
    expect(JSON.stringify((await shown(w, 'plain-one', '?format=erc8004')).body)).not.toContain(
      'eip155',
    )
  })
})

describe('text of people on the pages of a passport', () => {
  let w: World
  let one: Person
  beforeAll(async () => {
    w = await world()
    one = await arrive(w)
  })
  afterAll(() => w.stop())

  test.each(payloads.map((payload, i) => [i, payload] as const))(
    'payload %p stays text everywhere, or is refused',
    async (_, payload) => {
      const wish = { display_name: payload.slice(0, 64), bio: payload.slice(0, 280) }
      if (!(await w.deps.passports.find('hostile'))) await one.publish('hostile')
      const { status } = await one.post('/hostile', wish, 'PATCH')
      expect([200, 400]).toContain(status)
      const headers = { accept: 'text/html' }
      for (const path of [
        '/passports',
        '/passports/hostile',
        '/dashboard/passports',
        '/dashboard/passports/hostile',
        '/dashboard/passports/hostile/retire',
      ]) {
        const answer = await one.own.call(path, { headers })
        const html = await answer.text()
        expect(answer.status).toBe(200)
        expect(html).not.toMatch(/<(script|img|iframe|svg)[^>]*\b(on\w+|src="(?!\/))/i)
        expect(html).not.toContain('<script>')
        expect(html).not.toMatch(/href="(javascript|data|vbscript):/i)
      }
    },
  )

  test('links carry rel, and only https ones get there', async () => {
    await one.publish('linked', { links: ['https://example.com/a?b=<c>'] })
    const html = await (
      await w.call('/passports/linked', { headers: { accept: 'text/html' } })
    ).text()
    expect(html).toContain('<a href="https://example.com/a?b=%3Cc%3E" rel="nofollow noopener ugc">')
  })
})
