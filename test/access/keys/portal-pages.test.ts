import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { usd, type World, world } from '../../support/world.ts'
import { payloads } from '../../web/ui/payloads.ts'
import { errorIn, hiddenIn, type Own, secretIn, signedIn } from './own.ts'

const now = Date.UTC(2026, 6, 15, 12)
const path = '/dashboard/keys'
const api = '/api/portal/keys'
const priced = [
  '[[models]]',
  'id = "counterfoil/echo-1"',
  'input_pusd = 0',
  'output_pusd = 0',
  'request_nusd = 1_000_000_000',
  '[[plans]]',
  'id = "free"',
  'limits = { max_keys = 500 }',
].join('\n')

let w: World
let own: Own
beforeAll(async () => {
  w = await world({ now, toml: priced })
  own = await signedIn(w)
}, 30_000)
afterAll(() => w.stop())

const keyOf = (wish: Parameters<World['key']>[0] = {}) =>
  w.key({ account: own.account, name: 'agent', capLimit: 5n * usd, ...wish })

/** Spends a dollar. */
const run = async (key: string) => {
  const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hi' }] }
  expect((await w.call('/v1/chat/completions', { key, json })).status).toBe(200)
}

describe('the form of a key', () => {
  test('sent as it was shown it changes nothing, whatever the parent has become', async () => {
    const parent = await keyOf()
    const { key } = await keyOf({ parentId: parent.key.id, tags: { team: 'a', 'x=y': 'b' } })
    await own.json(`${api}/${parent.key.id}`, { cap: { limit_nusd: 1 } })
    const html = await (await own.page(`${path}/${key.id}`)).text()
    expect(html).not.toContain('name="tags"')
    const fields = { name: 'agent', cap: '5.00', expires_on: '2026-10-13', rpm: '' }
    const before = await own.get(`${api}/${key.id}`)
    const answer = await own.send(`${api}/${key.id}`, fields)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}/${key.id}`])
    expect(await own.get(`${api}/${key.id}`)).toEqual(before)
  })

  test('303: what differs is changed; htmx gets the page of the key', async () => {
    const { key } = await keyOf({ models: ['a'], rpm: 5, tags: { a: '1' } })
    const fields = {
      name: 'renamed',
      cap: '4',
      models: 'b\nc',
      rpm: '',
      tags: 'b=2 = 3',
      scopes_from: 'boxes',
      'scope.runs:read': 'true',
    }
    expect((await own.send(`${api}/${key.id}`, fields)).status).toBe(303)
    expect(await own.get(`${api}/${key.id}`)).toMatchObject({
      name: 'renamed',
      cap: { limit_nusd: 4_000_000_000 },
      models: ['b', 'c'],
      limits: { rpm: null },
      tags: { b: '2 = 3' },
      scopes: ['runs:read'],
      expires_at: new Date(key.expiresAt).toISOString(),
    })
    const swapped = await own.swap(`${api}/${key.id}`, { name: 'again' })
    expect(await swapped.text()).toMatch(/^<div class="stack wide" id="key">/)
  })

  test('409: a cap below what is spent names the smallest, at the field', async () => {
    const { key, secret } = await keyOf({ balance: 20n * usd })
    await run(secret)
    const answer = await own.send(`${api}/${key.id}`, { cap: '0.5' })
    expect(answer.status).toBe(409)
    const html = await answer.text()
    expect(errorIn(html, 'edit-cap')).toBe(
      'The key has spent and holds $1.00. Enter at least that.',
    )
    expect(html).toContain('value="0.5"')
  })
})

describe('the page of a key', () => {
  test('shows its chain, its cap, what it spent, what is below, and its rights', async () => {
    const top = await keyOf({ name: 'fleet', balance: 20n * usd, capWindow: 'day' })
    const { key, secret } = await keyOf({
      name: 'crawler',
      parentId: top.key.id,
      capWindow: 'week',
      capLimit: 2n * usd,
      tags: { team: 'search' },
      models: ['counterfoil/*'],
    })
    await run(secret)
    const html = await (await own.page(`${path}/${key.id}`)).text()
    expect(html).toContain(`<a href="${path}/${top.key.id}">fleet</a>`)
    expect(html).toContain('$1.00 of $2.00 a week')
    expect(html).toContain('$1.00 of $5.00 a day')
    expect(html).toContain('<code>team</code>: search')
    expect(html).toContain('<code>counterfoil/*</code>')
    expect(html).toContain('Spent a week, with the keys below. At most $1.00.')
    const above = await (await own.page(`${path}/${top.key.id}`)).text()
    expect(above).toContain(`Keys below`)
    expect(above).toContain(`href="${path}/${key.id}"`)
  })

  test('the keys below it go by page', async () => {
    const top = await keyOf()
    for (let i = 0; i < 31; i++) {
      w.advance(1)
      await keyOf({ parentId: top.key.id, name: `below-${i}` })
    }
    const first = await (await own.page(`${path}/${top.key.id}`)).text()
    const [older = ''] = /\/dashboard\/keys\/key_\w+\?after=key_\w+/.exec(first) ?? []
    expect(first).not.toContain('below-0<')
    const second = await (await own.page(older)).text()
    expect(second).toContain('below-0<')
    expect(second).not.toContain('rel="next"')
    const foreign = await keyOf()
    const bad = await own.page(`${path}/${top.key.id}?after=${foreign.key.id}`)
    expect(bad.status).toBe(400)
  })

  test('says why calls are refused: paused above, cap used up', async () => {
    const top = await keyOf({ balance: usd })
    const { key } = await keyOf({ parentId: top.key.id })
    expect((await own.send(`${api}/${top.key.id}/pause`)).status).toBe(303)
    const html = await (await own.page(`${path}/${key.id}`)).text()
    expect(html).toContain('Paused above')
    expect(html).toContain('Calls with this key are refused now.')
    const resumed = await own.swap(`${api}/${top.key.id}/resume`)
    expect(await resumed.text()).toContain('>Pause<')
  })
})

describe('rotating', () => {
  test('200: shows the new secret once; a reload does not rotate again', async () => {
    const { key, secret: old } = await keyOf()
    const html = await (await own.page(`${path}/${key.id}/rotate`)).text()
    const fields = { fingerprint: hiddenIn(html, 'fingerprint'), overlap_seconds: '3600' }
    expect(fields.fingerprint).toBe(key.fingerprint)
    const answer = await own.send(`${api}/${key.id}/rotate`, fields)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const secret = secretIn(await answer.text()) ?? ''
    const again = await own.send(`${api}/${key.id}/rotate`, fields)
    expect([again.status, again.headers.get('location')]).toEqual([
      303,
      `${path}/${key.id}?again=1`,
    ])
    for (const one of [old, secret]) {
      expect((await w.call('/v1/keys/self', { key: one })).status).toBe(200)
    }
    expect(await (await own.page(`${path}/${key.id}`)).text()).toContain('Old secret works until')
  })

  test('sent twice at the same time it rotates once', async () => {
    const { key } = await keyOf()
    const fields = { fingerprint: key.fingerprint, overlap_seconds: '0' }
    const answers = await Promise.all(
      [1, 2, 3].map(() => own.send(`${api}/${key.id}/rotate`, fields)),
    )
    const secrets = await Promise.all(answers.map(async (one) => secretIn(await one.text())))
    expect(secrets.filter((secret) => secret !== undefined).length).toBe(1)
  })

  test.each(['604801', '-1', 'x'])('400: an overlap of %s is said on the form', async (overlap) => {
    const { key } = await keyOf()
    const answer = await own.send(`${api}/${key.id}/rotate`, { overlap_seconds: overlap })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('Send an overlap of 0 to 604,800 seconds')
    expect(await own.get(`${api}/${key.id}`)).toMatchObject({ fingerprint: key.fingerprint })
  })
})

describe('revoking', () => {
  test('counts what it stops before, and the button says it again', async () => {
    const top = await keyOf({ name: 'research-fleet' })
    const child = await keyOf({ name: 'crawler-01', parentId: top.key.id })
    await keyOf({ name: 'crawler-02', parentId: child.key.id })
    const gone = await keyOf({ name: 'gone', parentId: top.key.id })
    await own.send(`${api}/${gone.key.id}/revoke`)
    const html = await (await own.page(`${path}/${top.key.id}/revoke`)).text()
    expect(html).toContain('This stops <strong>3 keys at once</strong>')
    expect(html).toContain('>Revoke 3 keys</button>')
    expect(html).toContain('crawler-02, never used')
    expect(html).not.toContain('gone, ')
    const answer = await own.send(`${api}/${top.key.id}/revoke`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}/${top.key.id}`])
    const after = await (await own.page(`${path}/${child.key.id}`)).text()
    expect(after).toContain('Revoked by')
    expect(after).not.toContain('id="edit"')
    const one = await keyOf()
    expect(await (await own.page(`${path}/${one.key.id}/revoke`)).text()).toContain(
      '>Revoke 1 key<',
    )
  })
})

describe('the list', () => {
  test('is a tree of what is in use; what ended goes by page', async () => {
    const who = await signedIn(w)
    expect(await (await who.page(path)).text()).toContain('No keys in use')
    const top = await keyOf({ account: who.account, name: 'top' })
    await keyOf({ account: who.account, name: 'inner', parentId: top.key.id })
    for (let i = 0; i < 31; i++) {
      w.advance(1)
      const { key } = await keyOf({ account: who.account, name: `old-${i}` })
      await who.send(`${api}/${key.id}/revoke`)
    }
    const html = await (await who.page(path)).text()
    expect(html).toMatch(/<div class="kid d1"><a class="to name what"[^>]* title="inner">/)
    expect(html).not.toContain('old-')
    const named = await (await who.page(`${path}?name=INN`)).text()
    expect(named).toContain(' under top')
    expect(named).not.toContain('title="top"')
    const first = await (await who.page(`${path}?state=revoked`)).text()
    expect(first).not.toContain('title="old-0"')
    const [older = ''] = /\/dashboard\/keys\?state=revoked&amp;after=key_\w+/.exec(first) ?? []
    const second = await (await who.page(older.replaceAll('&amp;', '&'))).text()
    expect(second).toContain('title="old-0"')
    expect(second).not.toContain('rel="next"')
    expect(await (await who.page(`${path}?state=expired`)).text()).toContain(
      'No key is in this state',
    )
    expect((await who.page(api)).headers.get('location')).toBe(path)
  })
})

describe('names and tags that try to be more than text', () => {
  const fit = payloads.filter((text) => !/\p{Cc}/u.test(text))
  const short = fit.filter((text) => text.length <= 64)

  test('There are at least 40 such names.', () => expect(short.length).toBeGreaterThanOrEqual(40))

  promise`C1`
  test('are shown as text on every page of keys', async () => {
    const who = await signedIn(w)
    const made: { id: string; name: string }[] = []
    for (const text of short) {
      const parentId = made[0]?.id
      const tags = { [text.slice(0, 64)]: text }
      const { key } = await keyOf({ account: who.account, name: text, tags, parentId })
      made.push({ id: key.id, name: text })
    }
    const pages = [path, `${path}?name=%3C`, `${path}?name=${encodeURIComponent(short[0] ?? '')}`]
    for (const { id } of made) pages.push(`${path}/${id}`)
    for (const { id } of made.slice(0, 2))
      pages.push(`${path}/${id}/revoke`, `${path}/${id}/rotate`)
    for (const at of pages) {
      expect([at, await strangeIn(await who.page(at))]).toEqual([at, []])
    }
    const list = await (await who.page(path)).text()
    expect(made.filter(({ name }) => !list.includes(Bun.escapeHTML(name)))).toEqual([])
    const typed = await who.send(api, { name: short[0] ?? '', cap: 'x', tags: fit.join('\n') })
    expect(await strangeIn(typed)).toEqual([])
  })
})

/** Elements and attributes that none of our pages has, and scripts and links to other places. */
async function strangeIn(answer: Response): Promise<string[]> {
  const found: string[] = []
  const strange = /^(img|iframe|object|embed|base|style|template|math|video|animate)$/
  const rewriter = new HTMLRewriter().on('*', {
    element({ tagName, attributes }) {
      if (strange.test(tagName)) found.push(tagName)
      for (const [name = '', value = ''] of attributes) {
        const isLink = /^(href|src|action|hx-get|hx-post)$/.test(name)
        if (/^(on|hx-on|style|srcdoc)/.test(name) || (isLink && !/^(\/(?!\/)|#)/.test(value))) {
          found.push(`${tagName} ${name}=${value}`)
        }
      }
    },
  })
  await rewriter.transform(answer).text()
  return found
}
