import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { askNonce, browser, signInWith, siweText, wallet } from './wallet.ts'

const start = Date.UTC(2026, 10, 21, 12)
const day = 24 * 3_600_000

describe.each(engines)('signing in on %s', (engine) => {
  let service: World
  beforeAll(async () => {
    service = await world({ engine, now: start })
  }, 30_000)
  afterAll(() => service.stop())

  const audits = async () => {
    const { auditEntries } = service.db.tables
    const all = await service.db.read((q) => rows(q.select().from(auditEntries)))
    return all.filter(({ action }) => action.startsWith('sign_') || action.startsWith('session'))
  }

  test('the text is whole, for this site, chain and wallet, and good for five minutes', async () => {
    const asked = await askNonce(browser(service))
    expect(asked.nonce).toMatch(/^[0-9a-f]{32}$/)
    expect(asked.expires_at).toBe(new Date(start + 300_000).toISOString())
    expect(
      asked.message,
    ).toBe(`${new URL(service.origin).host} wants you to sign in with your Ethereum account:
${wallet.address}

Sign in to Counterfoil. This costs nothing and sends no transaction.

URI: ${service.origin}
Version: 1
Chain ID: 4663
Nonce: ${asked.nonce}
Issued At: 2026-11-21T12:00:00.000Z
Expiration Time: 2026-11-21T12:05:00.000Z`)
  })

  test('opens the account and a session; the answer names both ends', async () => {
    const own = browser(service)
    const signer = privateKeyToAccount(generatePrivateKey())
    const answer = await signInWith(own, signer)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      account: signer.address,
      expires_at: new Date(start + 7 * day).toISOString(),
    })
    expect(await service.deps.accounts.find(signer.address.toLowerCase())).toMatchObject({
      balance: 0n,
      status: 'active',
    })
    const session = await own.call('/api/auth/session')
    expect(await session.json()).toEqual({
      account: signer.address,
      expires_at: new Date(start + day).toISOString(),
    })
    expect([...own.jar.keys()]).toEqual(['sid'])
  })

  test('a client may write its own text around a nonce', async () => {
    const own = browser(service)
    const asked = await own.call('/api/auth/nonce', { method: 'POST' })
    const { nonce, message } = (await asked.json()) as { nonce: string; message?: string }
    expect(message).toBeUndefined()
    const text = siweText(nonce, service.origin, {}, start)
    const signature = await wallet.signMessage({ message: text })
    const answer = await own.call('/api/auth/verify', { json: { message: text, signature } })
    expect(answer.status).toBe(200)
  })

  test('signed out, there is no account', async () => {
    const answer = await service.call('/api/auth/session')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ account: null })
  })

  promise`B4 C: A nonce is ours, ends after five minutes, and is used up by the first attempt.`
  test('200 verifications at once of one signed text make one session', async () => {
    const own = browser(service)
    const signer = privateKeyToAccount(generatePrivateKey())
    const { message } = await askNonce(own, signer.address)
    const signature = await signer.signMessage({ message })
    const cookie = { cookie: `signin=${own.jar.get('signin')}` }
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        service.call('/api/auth/verify', { json: { message, signature }, headers: cookie }),
      ),
    )
    const statuses = Map.groupBy(answers, ({ status }) => status)
    expect(statuses.get(200)?.length).toBe(1)
    expect(statuses.get(403)?.length).toBe(199)
    const { sessions } = service.db.tables
    const all = await service.db.read((q) => rows(q.select().from(sessions)))
    expect(all.filter((row) => row.accountId === signer.address.toLowerCase()).length).toBe(1)
  })

  promise`B10 H: One wallet is one account, also when it signs in many times at once.`
  test('50 first sign-ins at once open one account', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => signInWith(browser(service), signer)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { accounts } = service.db.tables
    const all = await service.db.read((q) => rows(q.select().from(accounts)))
    expect(all.filter((row) => row.id === signer.address.toLowerCase()).length).toBe(1)
  })

  promise`B4`
  test('a nonce is used up by the first attempt that reaches the signature, good or bad', async () => {
    const own = browser(service)
    const { message } = await askNonce(own)
    const stranger = privateKeyToAccount(generatePrivateKey())
    const forged = await stranger.signMessage({ message })
    const bad = await own.call('/api/auth/verify', { json: { message, signature: forged } })
    expect(bad.status).toBe(403)
    expect(await bad.json()).toMatchObject({ error: { type: 'signature_invalid' } })
    const signature = await wallet.signMessage({ message })
    const late = await own.call('/api/auth/verify', { json: { message, signature } })
    expect(await late.json()).toMatchObject({ error: { type: 'nonce_invalid' } })
  })

  test('the nonce of another browser is refused, and stays good for its own', async () => {
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    const other = browser(service)
    await askNonce(other)
    for (const one of [other, browser(service)]) {
      const answer = await one.call('/api/auth/verify', { json: { message, signature } })
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({ error: { type: 'nonce_invalid' } })
    }
    const answer = await own.call('/api/auth/verify', { json: { message, signature } })
    expect(answer.status).toBe(200)
  })

  test('a nonce that was given for a wallet is not good for another', async () => {
    const own = browser(service)
    const signer = privateKeyToAccount(generatePrivateKey())
    const { nonce } = await askNonce(own, wallet.address)
    const message = siweText(nonce, service.origin, { address: signer.address }, start)
    const signature = await signer.signMessage({ message })
    const answer = await own.call('/api/auth/verify', { json: { message, signature } })
    expect(await answer.json()).toMatchObject({ error: { type: 'nonce_invalid' } })
  })

  promise`B14`
  test('403 account_suspended: a suspended account neither signs in nor stays in', async () => {
    const signer = privateKeyToAccount(generatePrivateKey())
    const own = browser(service)
    await signInWith(own, signer)
    const { accounts } = service.db.tables
    await service.db.write(function* (q) {
      const all = yield* rows(q.select().from(accounts))
      const row = all.find(({ id }) => id === signer.address.toLowerCase())
      if (row) row.status = 'suspended'
      if (row) yield { kind: 'update', table: accounts, rows: [row], set: ['status'] }
    })
    const inside = await own.call('/api/portal/sessions')
    expect(inside.status).toBe(403)
    expect(await inside.json()).toMatchObject({ error: { type: 'account_suspended' } })
    expect(await (await own.call('/api/auth/session')).json()).toEqual({ account: null })
    const again = await signInWith(browser(service), signer)
    expect(again.status).toBe(403)
    expect(await again.json()).toMatchObject({ error: { type: 'account_suspended' } })
  })

  test('the audit keeps who, from where and how it ended, and nothing that opens anything', async () => {
    const own = browser(service)
    const headers = { 'user-agent': 'Test browser' }
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    const good = await own.call('/api/auth/verify', { json: { message, signature }, headers })
    const bad = await own.call('/api/auth/verify', { json: { message, signature }, headers })
    const token = own.jar.get('sid') ?? ''
    const all = await audits()
    const expected = {
      client_address: '127.0.0.1',
      user_agent_sha256: new Bun.CryptoHasher('sha256').update('Test browser').digest('hex'),
    }
    const account = wallet.address.toLowerCase()
    const ofRequest = (answer: Response) =>
      all.find(({ detail }) => detail['request_id'] === answer.headers.get('x-request-id'))
    expect(ofRequest(good)).toMatchObject({
      action: 'sign_in',
      accountId: account,
      detail: expected,
    })
    expect(ofRequest(bad)).toMatchObject({
      action: 'sign_in.failed',
      accountId: account,
      detail: { ...expected, reason: 'nonce' },
    })
    const text = JSON.stringify(all)
    expect(text).not.toContain(signature.slice(2, 40))
    expect(text).not.toContain(token)
  })
})
