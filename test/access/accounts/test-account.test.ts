import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testAccountFor } from '../../../src/access/accounts/api/test-account.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { testAccount, type World, world } from '../../support/world.ts'
import { browser } from './wallet.ts'

const path = '/signin/test-account'
const html = { accept: 'text/html' }
const form = { ...html, 'content-type': 'application/x-www-form-urlencoded' }
const offer = 'Sign in as the test account'

describe('the test account of serve --dev', () => {
  let w: World
  let proxied: World
  beforeAll(async () => {
    w = await world()
    proxied = await world({ toml: 'trusted_proxies = ["127.0.0.1", "::1"]' })
  }, 60_000)
  afterAll(async () => {
    await w?.stop()
    await proxied?.stop()
  })

  const send = (service: World, headers: Record<string, string> = {}) =>
    browser(service).call(path, {
      method: 'POST',
      body: 'next=%2Fdashboard%2Fkeys',
      headers: { ...form, ...headers },
    })
  const page = async (service: World, headers: Record<string, string> = {}) =>
    (await service.call('/signin', { headers: { ...html, ...headers } })).text()

  promise`B25 C: The test account of serve --dev is signed in over loopback only, by no proxy.`
  test('without --dev it is a 404, and the page does not offer it', async () => {
    expect((await send(w)).status).toBe(404)
    expect(await page(w)).not.toContain(offer)
  })

  test('on loopback it opens a session with its audit entry, as a signature does', async () => {
    w.deps.settings.devAccount = testAccount
    expect(await page(w)).toContain(offer)
    const own = browser(w)
    const answer = await own.call(path, {
      method: 'POST',
      body: 'next=%2Fdashboard%2Fkeys',
      headers: form,
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard/keys'])
    expect((await own.call('/dashboard/keys', { headers: html })).status).toBe(200)
    const { auditEntries } = w.db.tables
    const kept = await w.db.read((q) => rows(q.select().from(auditEntries)))
    const entries = kept.filter(({ action }) => action === 'sign_in')
    expect(entries.map(({ accountId }) => accountId)).toEqual([testAccount])
    expect(entries[0]?.detail).toMatchObject({
      client_address: expect.stringMatching(/^(127\.|::1)/),
    })
  })

  test('another origin cannot send the form', async () => {
    const answer = await send(w, { 'sec-fetch-site': 'cross-site' })
    expect(answer.status).toBe(403)
  })

  promise`B25`
  test.each([
    ['x-forwarded-for', '203.0.113.7'],
    ['x-forwarded-for', '127.0.0.1'],
    ['forwarded', 'for=203.0.113.7'],
    ['x-real-ip', '203.0.113.7'],
    ['via', '1.1 proxy'],
  ])('behind a proxy that sends %s: %s it is a 404, trusted or not', async (name, value) => {
    for (const service of [w, proxied]) {
      service.deps.settings.devAccount = testAccount
      expect((await send(service, { [name]: value })).status).toBe(404)
      expect(await page(service, { [name]: value })).not.toContain(offer)
    }
  })

  const here = { devAccount: testAccount, baseUrl: 'http://localhost:4663' }
  const asking = (host: string) => new Request('http://localhost/', { headers: { host } })

  promise`B25`
  test.each(['203.0.113.7', '10.0.0.1', '::2', undefined])(
    'a peer at %s is not offered it',
    (peer) => {
      expect(testAccountFor(here, asking('localhost:4663'), peer)).toBeUndefined()
    },
  )

  test.each(['example.com', 'localhost.example.com', '127.0.0.1.nip.io', ''])(
    'the host "%s" is not offered it',
    (host) => {
      expect(testAccountFor(here, asking(host), '127.0.0.1')).toBeUndefined()
      const baseUrl = `https://${host || 'x'}`
      expect(testAccountFor({ ...here, baseUrl }, asking('localhost'), '::1')).toBeUndefined()
    },
  )

  test.each(['localhost:4663', '127.0.0.1:4663', '[::1]:4663'])('%s is', (host) => {
    expect(testAccountFor(here, asking(host), '127.0.0.1')).toBe(testAccount)
  })
})
