import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type World, world } from '../../support/world.ts'
import { askNonce, type Browser, browser, wallet } from './wallet.ts'

setDefaultTimeout(60_000)

const page = 'text/html,application/xhtml+xml;q=0.9'

const post = (own: Browser, path: string, fields: Record<string, string>, accept = page) =>
  own.call(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept },
  })

describe('the forms of the sign-in page', () => {
  let service: World
  beforeAll(async () => {
    service = await world()
  })
  afterAll(() => service.stop())

  test('lead from the address to the text, and from the signature to the page', async () => {
    const own = browser(service)
    const fields = { address: ` ${wallet.address} `, next: '/dashboard/keys' }
    const begun = await post(own, '/api/auth/nonce', fields)
    expect([begun.status, await begun.text()]).toEqual([303, ''])
    const at = new URL(begun.headers.get('location') ?? '', service.origin)
    expect([at.pathname, at.searchParams.get('next')]).toEqual(['/signin', '/dashboard/keys'])
    const nonce = at.searchParams.get('nonce') ?? ''
    const { signInNonces } = service.db.tables
    const kept = await service.db.read((q) => rows(q.select().from(signInNonces)))
    const message = kept.find((row) => row.nonce === nonce)?.message ?? ''
    const signature = await wallet.signMessage({ message })
    const signed = { message, signature, next: '/dashboard/keys' }
    const done = await post(own, '/api/auth/verify', signed)
    expect([done.status, done.headers.get('location')]).toEqual([303, '/dashboard/keys'])
    expect(own.jar.has('sid')).toBe(true)
  })

  test('refused, are shown again with the reason, as pages are sent', async () => {
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = `0x${'11'.repeat(65)}`
    const fields = { message, signature, next: '/dashboard/keys' }
    const answer = await post(own, '/api/auth/verify', fields)
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toStartWith('text/html')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(answer.headers.get('cache-control')).toContain('no-store')
    const text = await answer.text()
    expect(text).toContain('The signature does not match. Nothing was signed in.')
    expect(text).toContain('value="/dashboard/keys"')
  })

  test('sent by a program are answered in JSON, and so is JSON of a page', async () => {
    const own = browser(service)
    const fields = { address: wallet.address }
    const told = await post(own, '/api/auth/nonce', fields, 'application/json')
    expect(told.status).toBe(200)
    expect(((await told.json()) as { nonce: string }).nonce).toMatch(/^[0-9a-f]{32}$/)
    // As long as the text that is to be signed.
    expect(told.headers.getSetCookie()[0]).toContain('; Max-Age=300;')
    const json = { json: fields, headers: { accept: page } }
    const asked = await own.call('/api/auth/nonce', json)
    expect(asked.status).toBe(200)
    expect(((await asked.json()) as { nonce: string }).nonce).toMatch(/^[0-9a-f]{32}$/)
  })
})

describe('A failure that is not a refusal', () => {
  test('is a 500 and not a page: lost storage is logged with its cause', async () => {
    const service = await world()
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    await service.db.close()
    for (const accept of [page, 'application/json']) {
      const answer = await post(own, '/api/auth/verify', { message, signature }, accept)
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([
        500,
        expect.stringMatching(/^req_/),
      ])
      expect(await answer.text()).not.toContain('Connect a wallet')
      const { event, error } = service.logged.at(-1) ?? {}
      expect([event, String(error)]).toEqual([
        'request.failed',
        expect.stringContaining('closed database'),
      ])
    }
    await service.stop()
  })
})

describe('a browser that signs in', () => {
  let service: World
  beforeAll(async () => {
    service = await world()
  })
  afterAll(() => service.stop())

  test('keeps its cookie in a second tab, and gets a new one for what is none', async () => {
    const own = browser(service)
    await askNonce(own)
    const first = own.jar.get('signin')
    await askNonce(own)
    expect(own.jar.get('signin')).toBe(first)
    own.jar.set('signin', 'chosen-by-another-person')
    await askNonce(own)
    expect(own.jar.get('signin')).toMatch(/^[\w-]{43}$/)
    expect(own.jar.get('signin')).not.toBe(first)
  })
})

describe('429 rate_limited', () => {
  test.each(['nonce', 'verify'])('more attempts of one address than allowed: %s', async (what) => {
    const service = await world({ toml: '[limits]\nfailed_auth_per_minute = 2\n' })
    const attempt = async () => {
      const answer = await service.call(`/api/auth/${what}`, { json: { address: 'x' } })
      return [answer.status, answer.headers.has('retry-after')]
    }
    expect([await attempt(), await attempt()]).toEqual([
      [400, false],
      [400, false],
    ])
    expect(await attempt()).toEqual([429, true])
    await service.stop()
  })
})
