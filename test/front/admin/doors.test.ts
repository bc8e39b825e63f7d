import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { reloader } from '../../../src/app/reload.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { configOf, load } from '../../config/load.ts'
import { promise } from '../../support/promise.ts'
import { testAccount, type World } from '../../support/world.ts'
import { adminWorld, html, json, noted, other, otherWallet, post } from './admin.ts'

setDefaultTimeout(60_000)

const pages = [
  '',
  '/accounts',
  `/accounts/${other}`,
  `/accounts/${other}/suspend`,
  `/accounts/${other}/grant`,
  '/models',
  '/models/add',
  '/models/add/groq',
  '/margins',
  '/margins?by=account&days=90',
  '/anchors',
  '/deposits',
  '/ledger',
  '/audit-log',
].map((path) => `/dashboard/admin${path}`)
const lists = [
  '',
  '/accounts',
  '/models',
  '/margins',
  '/anchors',
  '/deposits',
  '/ledger',
  '/audit-log',
].map((path) => `/api/portal/admin${path}`)
const actions = [
  `/accounts/${other}/suspend`,
  `/accounts/${other}/resume`,
  `/accounts/${other}/grant`,
  '/reload',
  '/providers',
  '/providers/confirm',
  '/anchors/now',
  '/deposits/dep_01jd0000000000000000000000/assign',
  '/ledger/audit',
].map((path) => `/api/portal/admin${path}`)
const fields = { reason: 'because', amount: '5', once: '0', account: other }

describe('list and change the operator wallets', () => {
  let w: World
  let own: Browser
  let theirs: Browser
  beforeAll(async () => {
    ;({ w, own, theirs } = await adminWorld())
  })
  afterAll(() => w.stop())

  promise`C12 C: Only an operator's session reaches the operator's routes; keys never do.`
  describe('404: to everybody else they are not there', () => {
    test.each([...pages, ...lists])('GET %s', async (path) => {
      const isPage = path.startsWith('/dashboard')
      for (const from of isPage ? [theirs, browser(w)] : [theirs]) {
        for (const headers of [html, json]) {
          const answer = await from.call(path, { headers })
          const nowhere = await from.call(
            isPage ? '/dashboard/adminimum' : path.replace('/admin', '/adminimum'),
            {
              headers,
            },
          )
          expect(answer.status).toBe(404)
          expect(answer.headers.get('location')).toBeNull()
          const without = (text: string) =>
            text.replaceAll(/req_\w+|adminimum|name="back" value="[^"]*"|admin[\w/-]*/g, '')
          expect(without(await answer.text())).toBe(without(await nowhere.text()))
        }
      }
    })
    test.each(actions)('POST %s', async (path) => {
      const before = (await noted(w)).length
      expect((await post(theirs, path, fields)).status).toBe(404)
      expect((await post(browser(w), path, fields)).status).toBe(401)
      expect((await noted(w)).length).toBe(before)
    })
    test.each(lists)('401 session_required without a session: %s', async (path) => {
      const answer = await w.call(path, { headers: json })
      expect([answer.status, (await answer.json()).error.type]).toEqual([401, 'session_required'])
    })
    test('a key opens nothing of it, not even one of an admin', async () => {
      const { secret } = await w.key({ account: testAccount, scopes: [...scopes] })
      for (const path of [...pages, ...lists]) {
        const answer = await w.call(path, { key: secret, headers: json })
        expect(answer.status).toBe(path.startsWith('/dashboard') ? 404 : 401)
      }
    })
    promise`C12`
    test('nothing that a client sends makes an admin of it', async () => {
      const headers = { ...json, 'x-account': testAccount, 'x-forwarded-user': testAccount }
      const answer = await theirs.call(`/api/portal/admin?account=${testAccount}&admin=1`, {
        headers,
      })
      expect(answer.status).toBe(404)
    })
  })

  test.each(pages.filter((path) => !path.endsWith('/grant')))(
    '200 to an admin: %s',
    async (path) => {
      const answer = await own.call(path, { headers: html })
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('Audit log')
    },
  )
  test.each(lists)('200 to an admin, in JSON and as a part: %s', async (path) => {
    const answer = await own.call(path, { headers: json })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/json;charset=utf-8',
    ])
    const part = await (await own.call(path, { headers: { 'hx-request': 'true' } })).text()
    expect(part).not.toContain('<html')
    expect(part).toContain('<section')
  })

  test('the nav has the group of the operator for admins only', async () => {
    const mine = await (await own.call('/dashboard/sessions', { headers: html })).text()
    const not = await (await theirs.call('/dashboard/sessions', { headers: html })).text()
    expect(mine).toContain('href="/dashboard/admin"')
    expect(not).not.toContain('/dashboard/admin')
    expect(not).not.toContain('Operator')
  })

  promise`C12`
  describe('403 csrf_failed from a page of another origin, and nothing is done', () => {
    test.each(actions)('%s', async (path) => {
      const before = (await noted(w)).length
      const foreign: Record<string, string>[] = [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]
      for (const headers of foreign) {
        const answer = await post(own, path, fields, { ...json, ...headers })
        expect([answer.status, (await answer.json()).error.type]).toEqual([403, 'csrf_failed'])
      }
      expect((await noted(w)).length).toBe(before)
    })
  })
})

test('who is an admin follows the configuration of now, in the sessions that there are', async () => {
  const { w, own, theirs } = await adminWorld()
  const seen = async (from: Browser) =>
    (await from.call('/dashboard/admin', { headers: html })).status
  expect([await seen(own), await seen(theirs)]).toEqual([200, 404])
  w.deps.settings.admins = [other]
  expect([await seen(own), await seen(theirs)]).toEqual([404, 200])
  w.deps.settings.admins = []
  expect([await seen(own), await seen(theirs)]).toEqual([404, 404])
  await w.stop()
})

test('a reload takes on the admins of the file', async () => {
  const { w, own, theirs } = await adminWorld()
  const seen = async (from: Browser) =>
    (await from.call('/dashboard/admin', { headers: html })).status
  const text = (admin: string) => `admins = ["${admin}"]\n`
  const log = { ...w.deps.log, setLevel: () => {} }
  const config = configOf({ fileText: text(testAccount) })
  const readAgain = () => load({ fileText: text(otherWallet.address) })
  const reload = reloader({ service: w.deps, log, config, readAgain })
  expect(await reload()).toEqual({ changed: ['admins'], restart: [] })
  expect([await seen(own), await seen(theirs)]).toEqual([404, 200])
  await w.stop()
})

test('an admin who is suspended is an admin no more', async () => {
  const { w, own, theirs } = await adminWorld()
  w.deps.settings.admins = [testAccount, other]
  const path = `/api/portal/admin/accounts/${testAccount}/suspend`
  expect((await post(theirs, path, { reason: 'their key leaked' })).status).toBe(200)
  expect((await own.call('/api/portal/admin', { headers: json })).status).toBe(404)
  const again = browser(w)
  expect((await signInWith(again, otherWallet)).status).toBe(200)
  expect((await again.call('/api/portal/admin', { headers: json })).status).toBe(200)
  await w.stop()
})
