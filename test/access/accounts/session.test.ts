import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { askNonce, type Browser, browser, signInWith, wallet } from './wallet.ts'

const start = Date.UTC(2026, 10, 21, 12)
const hour = 3_600_000

type SessionView = { id: string; current: boolean; user_agent: string; last_seen_at: string }

const listOf = async (own: Browser, query = '') => {
  const answer = await own.call(`/api/portal/sessions${query}`)
  return (await answer.json()) as { data: SessionView[]; has_more: boolean }
}

describe.each(engines)('sessions on %s', (engine) => {
  let service: World
  beforeAll(async () => {
    service = await world({ engine, now: start })
  }, 30_000)
  afterAll(() => service.stop())

  const signedIn = async (signer = privateKeyToAccount(generatePrivateKey())) => {
    const own = browser(service)
    expect((await signInWith(own, signer)).status).toBe(200)
    return own
  }
  const statusOf = async (own: Browser) => (await own.call('/api/portal/sessions')).status
  const stored = async () => {
    const { sessions } = service.db.tables
    return service.db.read((q) => rows(q.select().from(sessions)))
  }

  promise`B14 C: Only the hash of a session is stored, and each way to end one ends it at once.`
  test('only the hash of a token is stored', async () => {
    const own = await signedIn()
    const token = own.jar.get('sid') ?? ''
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const text = JSON.stringify(await stored())
    expect(text).not.toContain(token)
    expect(text).toContain(new Bun.CryptoHasher('sha256').update(token).digest('hex'))
  })

  promise`B13 C: A session is a new one at each sign-in; a value set before never becomes one.`
  test('a value that was there before never becomes a session (fixation)', async () => {
    const planted = 'A'.repeat(43)
    const own = browser(service, new Map([['sid', planted]]))
    expect((await signInWith(own)).status).toBe(200)
    expect(own.jar.get('sid')).not.toBe(planted)
    expect(await statusOf(browser(service, new Map([['sid', planted]])))).toBe(401)
  })

  promise`B13`
  test('is a new one at every sign-in, and the browser’s old one ends', async () => {
    const own = await signedIn()
    const before = own.jar.get('sid') ?? ''
    expect((await signInWith(own)).status).toBe(200)
    expect(own.jar.get('sid')).not.toBe(before)
    expect(await statusOf(browser(service, new Map([['sid', before]])))).toBe(401)
  })

  test('a cookie that comes twice is none', async () => {
    const own = await signedIn()
    const twice = { cookie: `sid=${own.jar.get('sid')}; sid=${'B'.repeat(43)}` }
    const answer = await service.call('/api/portal/sessions', { headers: twice })
    expect(answer.status).toBe(401)
  })

  promise`B14`
  test('logout ends it for every copy of the cookie, twice without harm', async () => {
    const own = await signedIn()
    const copy = browser(service, new Map(own.jar))
    expect(await statusOf(copy)).toBe(200)
    const answer = await own.call('/api/auth/logout', { method: 'POST' })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ account: null })
    expect(answer.headers.get('clear-site-data')).toContain('"cookies"')
    expect(own.jar.has('sid')).toBe(false)
    expect(await statusOf(copy)).toBe(401)
    expect((await own.call('/api/auth/logout', { method: 'POST' })).status).toBe(200)
  })

  test('are listed newest first, with this one marked, and only one’s own', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    await signedIn()
    const first = await signedIn(signer)
    const second = await signedIn(signer)
    const { data } = await listOf(second)
    expect(data.map(({ current }) => current).sort()).toEqual([false, true])
    expect((await listOf(first)).data.length).toBe(2)
    const page = await listOf(second, '?limit=1')
    expect(page).toMatchObject({ has_more: true })
    const rest = await listOf(second, `?limit=1&after=${page.data[0]?.id}`)
    expect([page.data[0]?.id, rest.data[0]?.id].sort()).toEqual(data.map(({ id }) => id).sort())
    const unknown = await second.call(`/api/portal/sessions?after=sess_${'0'.repeat(26)}`)
    expect(unknown.status).toBe(400)
  })

  test('A session revokes other sessions of its account and itself, never those of other accounts', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    const first = await signedIn(signer)
    const second = await signedIn(signer)
    const stranger = await signedIn()
    const { data } = await listOf(first)
    const idOf = (current: boolean) => data.find((row) => row.current === current)?.id ?? ''
    const revoke = (own: Browser, id: string) =>
      own.call(`/api/portal/sessions/${id}/revoke`, { method: 'POST' })

    const foreign = await revoke(stranger, idOf(false))
    const absent = await revoke(stranger, `sess_${'0'.repeat(26)}`)
    expect([foreign.status, absent.status]).toEqual([404, 404])
    expect((await revoke(first, idOf(false))).status).toBe(200)
    expect(await statusOf(second)).toBe(401)
    expect((await revoke(first, idOf(false))).status).toBe(404)
    expect((await revoke(first, idOf(true))).status).toBe(200)
    expect(first.jar.has('sid')).toBe(false)
    expect(await statusOf(stranger)).toBe(200)
  })

  promise`B14`
  test('all others can be revoked at once', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    const others = [await signedIn(signer), await signedIn(signer)]
    const own = await signedIn(signer)
    const stranger = await signedIn()
    const answer = await own.call('/api/portal/sessions/others/revoke', { method: 'POST' })
    expect(await answer.json()).toEqual({ revoked: 2 })
    expect(await Promise.all([...others, own, stranger].map(statusOf))).toEqual([
      401, 401, 200, 200,
    ])
  })

  test('revoking answers a script in JSON, htmx with the panel, a plain form with the page', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    const own = await signedIn(signer)
    const revoke = async (headers: Record<string, string>) => {
      const other = await signedIn(signer)
      const { data } = await listOf(other)
      const id = data.find(({ current }) => current)?.id
      return own.call(`/api/portal/sessions/${id}/revoke`, { method: 'POST', headers })
    }
    const json = await revoke({ accept: 'application/json' })
    expect(await json.json()).toMatchObject({ object: 'session', current: false })
    const panel = await revoke({ 'hx-request': 'true', accept: 'text/html' })
    expect(panel.status).toBe(200)
    expect(await panel.text()).toMatch(/^<section class="sec" id="sessions"/)
    const form = await revoke({ accept: 'text/html' })
    expect([form.status, form.headers.get('location')]).toEqual([303, '/dashboard/sessions'])
  })

  promise`B14`
  test('end after a day without use, and after a week with it', async () => {
    const [idle, used] = [await signedIn(), await signedIn()]
    for (let day = 0; day < 6; day++) {
      service.advance(23 * hour)
      expect(await statusOf(used)).toBe(200)
      if (day === 0) expect(await statusOf(idle)).toBe(200)
    }
    expect(await statusOf(idle)).toBe(401)
    service.advance(23 * hour)
    expect(await statusOf(used)).toBe(200)
    service.advance(7 * hour - 1)
    expect(await statusOf(used)).toBe(200)
    service.advance(1)
    expect(await statusOf(used)).toBe(401)
    await service.deps.sessions.dropEnded(service.deps.clock.now())
    expect(await stored()).toEqual([])
  })

  test('end a day after the last use, to the millisecond', async () => {
    const [used, idle] = [await signedIn(), await signedIn()]
    service.advance(24 * hour - 1)
    expect(await statusOf(used)).toBe(200)
    service.advance(1)
    expect([await statusOf(used), await statusOf(idle)]).toEqual([200, 401])
  })

  test('show what a browser says of itself, of which 200 characters are kept', async () => {
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    const headers = { 'user-agent': `${'a'.repeat(199)}bc` }
    const signedIn = await own.call('/api/auth/verify', { json: { message, signature }, headers })
    expect(signedIn.status).toBe(200)
    const current = (await listOf(own)).data.find((row) => row.current)
    expect(current?.user_agent).toBe(`${'a'.repeat(199)}b`)
  })

  test('are noted as used once a minute at most', async () => {
    const own = await signedIn()
    const seen = async () => (await listOf(own)).data[0]?.last_seen_at
    const first = await seen()
    service.advance(59_999)
    expect(await seen()).toBe(first)
    service.advance(1)
    expect(await seen()).not.toBe(first)
  })

  promise`B4`
  test('a nonce ends after five minutes, and is swept then', async () => {
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    service.advance(5 * 60_000)
    const answer = await own.call('/api/auth/verify', { json: { message, signature } })
    expect(answer.status).toBe(403)
    await service.deps.nonces.dropExpired(service.deps.clock.now())
    const { signInNonces } = service.db.tables
    expect(await service.db.read((q) => rows(q.select().from(signInNonces)))).toEqual([])
  })
})
