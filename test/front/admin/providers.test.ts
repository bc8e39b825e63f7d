import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import type { Browser } from '../../access/accounts/wallet.ts'
import type { World } from '../../support/world.ts'
import { adminWorld, html, json, noted, post } from './admin.ts'
import { providerKey, providerPlace } from './provider-place.ts'

setDefaultTimeout(60_000)

const api = '/api/portal/admin/providers'
let w: World
let own: Browser
let place: ReturnType<typeof providerPlace>
beforeAll(async () => {
  ;({ w, own } = await adminWorld())
})
beforeEach(() => {
  place = providerPlace(w)
})
afterEach(() => place.stop())
afterAll(() => w.stop())

const wish = (more: Record<string, string> = {}) => ({
  ...{ provider: 'groq', key: providerKey, at: place.at, markup: '10', ...more },
})
const propose = async (more: Record<string, string> = {}) => {
  const answer = await post(own, api, wish(more))
  return { status: answer.status, body: await answer.json() }
}

test('An operator sees models with cost and price, and the change; nothing is written before it is confirmed.', async () => {
  const { status, body } = await propose()
  expect(status).toBe(200)
  expect(body.models).toEqual([
    {
      id: 'groq/llama-3.3-70b-versatile',
      kind: 'chat',
      cost: { input: '$0.59 / M', output: '$0.79 / M' },
      sale: { input: '$0.649 / M', output: '$0.869 / M' },
    },
  ])
  expect(body).toMatchObject({ upstream: 'groq', writable: true, others: null })
  expect(body.addition).toStartWith('[[upstreams]]\nid = "groq"\n')
  expect(body.notes.join()).toContain('No price is published of brand-new')
  expect(JSON.stringify(body)).not.toContain(providerKey)
  expect([place.text(), existsSync(place.keyFile)]).toEqual([place.begin, false])
})

test('A confirmed change is written behind the end, keeps the older file, and is in the audit without the key.', async () => {
  const { body } = await propose()
  const answer = await post(own, `${api}/confirm`, { draft: body.draft })
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      object: 'provider',
      upstream: 'groq',
      models: ['groq/llama-3.3-70b-versatile'],
      reload: {
        changed: ['upstreams "groq"', 'models "groq/llama-3.3-70b-versatile"'],
        restart: [],
      },
    },
  ])
  expect(place.text()).toBe(`${place.begin}\n${body.addition}`)
  expect(readFileSync(`${place.path}.1`, 'utf8')).toBe(place.begin)
  expect([readFileSync(place.keyFile, 'utf8'), statSync(place.keyFile).mode & 0o777]).toEqual([
    `${providerKey}\n`,
    0o600,
  ])
  expect(w.deps.catalogue.get('groq/llama-3.3-70b-versatile')).toBeDefined()
  const [did] = (await noted(w)).filter(({ action }) => action === 'provider.add')
  expect(did).toMatchObject({
    subject: 'groq',
    detail: { provider: 'groq', models: ['groq/llama-3.3-70b-versatile'], count: 1 },
  })
  expect(JSON.stringify([await noted(w), w.logged])).not.toContain(providerKey)
  const page = await (await own.call('/dashboard/admin/models', { headers: html })).text()
  expect(page).toContain('Configuration reloaded.')
  expect(page).toContain('10%')
})

test('A key that the provider rejects is an error at its field, and the form comes back without it.', async () => {
  const refused = await propose({ key: 'gsk_wrong' })
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'key' } } })
  const page = await post(own, api, wish({ key: 'gsk_wrong' }), html)
  const text = await page.text()
  expect([page.status, text.includes('Groq rejects the key')]).toEqual([400, true])
  expect(text).not.toContain('gsk_wrong')
  expect(text).toContain('value="10"')
})

test.each([
  ['id', '../up'],
  ['markup', 'much'],
  ['models', 'none-*'],
  ['at', 'ftp://x'],
  ['input', 'x'],
  ['context', '-1'],
])('A wrong %s is an error at its field.', async (field, value) => {
  const { status, body } = await propose({ [field]: value })
  expect([status, body.error.param]).toEqual([400, field])
})

test('A file that changed since the change was shown is not written.', async () => {
  const { body } = await propose()
  appendFileSync(place.path, '# theirs\n')
  const answer = await post(own, `${api}/confirm`, { draft: body.draft })
  expect(answer.status).toBe(409)
  expect(place.text()).toBe(`${place.begin}# theirs\n`)
  expect(existsSync(place.keyFile)).toBe(false)
})

test('A folder that cannot be written shows the lines to copy, and a late failure changes nothing.', async () => {
  const { body } = await propose()
  chmodSync(place.folder, 0o500)
  const isRoot = process.getuid?.() === 0
  const shown = await propose()
  if (!isRoot) {
    expect(shown.body.writable).toBe(false)
    const answer = await post(own, `${api}/confirm`, { draft: body.draft })
    expect(answer.status).toBe(409)
    expect(existsSync(place.keyFile)).toBe(false)
  }
  chmodSync(place.folder, 0o700)
  expect(place.text()).toBe(place.begin)
})

test('A draft of another admin, a changed one and an old one confirm nothing.', async () => {
  const { body } = await propose()
  for (const draft of ['bm90aGluZw', `${body.draft.slice(0, -4)}AAAA`]) {
    expect((await post(own, `${api}/confirm`, { draft })).status).toBe(409)
  }
  w.advance(16 * 60_000)
  expect((await post(own, `${api}/confirm`, { draft: body.draft })).status).toBe(409)
  expect(place.text()).toBe(place.begin)
})

test('On several nodes the change comes with the command for the others.', async () => {
  place.stop()
  place = providerPlace(w, 'database_url = "postgres://counterfoil@db.example/counterfoil"\n')
  const { body } = await propose({ models: 'llama-*' })
  expect(body.others).toBe(
    `counterfoil provider add groq --at '${place.at}' --models 'llama-*' --markup 10%`,
  )
  const page = await (await post(own, api, wish(), html)).text()
  expect(page).toContain('Only this node is changed.')
})

test('A server without a file to change says so.', async () => {
  w.deps.providers.desk = undefined
  expect((await post(own, api, wish(), json)).status).toBe(409)
  const page = await (await own.call('/dashboard/admin/models/add', { headers: html })).text()
  expect(page).toContain('counterfoil provider add')
})
