import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { issueToken } from '../../../src/access/operators/issue-token.ts'
import { operatorScopes } from '../../../src/access/operators/token.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { errorType } from '../../docs/answers.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { noted } from '../admin/admin.ts'

const account = `0x${'ab'.repeat(20)}`

describe.each(engines)('accounts through the operator API on %s', (engine) => {
  let w: World
  let token: { id: string; secret: string }
  beforeAll(async () => {
    w = await world({ engine })
    const wish = { name: 'test', scopes: operatorScopes, lifeMs: 86_400_000 }
    const made = await issueToken(w.deps, wish)
    token = { id: made.token.id, secret: made.secret }
  }, 60_000)
  afterAll(async () => {
    expect(await auditStore(w.db).faults(w.deps.clock.now())).toEqual([])
    await w.stop()
  })

  const ask = (path: string, json?: unknown, headers: Record<string, string> = {}) =>
    w.call(`/operator/v1${path}`, { key: token.secret, headers, ...(json ? { json } : {}) })
  const balance = async () => (await w.deps.accounts.find(account))?.balance ?? 0n

  test('A grant opens an account, and is repeated under its Idempotency-Key alone.', async () => {
    const wish = { account, amount_nusd: 25_000_000_000, reason: 'invoice 17' }
    const headers = { 'idempotency-key': 'payment-17' }
    const all = await Promise.all(Array.from({ length: 8 }, () => ask('/grants', wish, headers)))
    const told = await Promise.all(all.map((one) => one.json()))
    const granted = told.filter(({ object }) => object === 'grant')
    expect(granted.length).toBeGreaterThan(0)
    expect(new Set(granted.map(({ id }) => id)).size).toBe(1)
    expect(await balance()).toBe(25n * usd)
    expect(granted[0]).toMatchObject({ amount_nusd: 25_000_000_000, balance_nusd: 25_000_000_000 })
    const other = await ask('/grants', { ...wish, amount_nusd: 1 }, headers)
    expect([other.status, await errorType(other)]).toEqual([422, 'idempotency_mismatch'])
    const entry = (await noted(w)).find(({ action }) => action === 'grant')
    expect(entry).toMatchObject({ actor: token.id, id: granted[0].id, accountId: account })
    expect(entry?.detail).toEqual({ amount_nusd: '25000000000', reason: 'invoice 17' })
  })

  test.each([0, -1, 1.5, '5', 9_000_000_000_000_001, 1e300])(
    'A grant of %p is refused, and changes nothing.',
    async (amount_nusd) => {
      const before = await balance()
      const answer = await ask('/grants', { account, amount_nusd, reason: 'test' })
      expect([400, 409]).toContain(answer.status)
      expect(await balance()).toBe(before)
    },
  )

  test('An account is found, suspended with a reason or without, and resumed.', async () => {
    const found = await (await ask(`/accounts/${account}`)).json()
    expect(found).toMatchObject({ id: account, status: 'active', keys: '0' })
    const listed = await (await ask('/accounts?q=0xab')).json()
    expect(listed.data).toEqual([{ ...found, keys: undefined }])
    const off = await ask(`/accounts/${account}/suspend`, { reason: 'abuse' })
    expect(await off.json()).toMatchObject({ status: 'suspended' })
    const on = await w.call(`/operator/v1/accounts/${account}/resume`, {
      method: 'POST',
      key: token.secret,
    })
    expect(await on.json()).toMatchObject({ status: 'active' })
    const done = (await noted(w)).filter(({ action }) => action.startsWith('account.'))
    expect(done.map(({ actor, action, detail }) => [actor, action, detail['reason']])).toEqual([
      [token.id, 'account.resume', ''],
      [token.id, 'account.suspend', 'abuse'],
    ])
    expect((await ask(`/accounts/0x${'cd'.repeat(20)}`)).status).toBe(404)
  })

  test('A key is made with its secret once, listed without it, and revoked.', async () => {
    const wish = { account, name: 'first', cap: { limit_nusd: 1_000_000_000 } }
    const made = await (await ask('/keys', wish, { 'idempotency-key': 'k' })).json()
    expect(made.secret).toStartWith('sk-service-')
    const again = await (await ask('/keys', wish, { 'idempotency-key': 'k' })).json()
    expect([again.id, again.secret]).toEqual([made.id, null])
    const self = await (await w.call('/v1/keys/self', { key: made.secret })).json()
    expect(self.id).toBe(made.id)
    const listed = await (await ask(`/keys?account=${account}`)).text()
    expect(JSON.parse(listed).data.map(({ id }: { id: string }) => id)).toEqual([made.id])
    expect(listed).not.toContain('sk-service-')
    const gone = await w.call(`/operator/v1/keys/${made.id}/revoke`, {
      method: 'POST',
      key: token.secret,
    })
    expect(await gone.json()).toMatchObject({ status: 'revoked', revoked_by: token.id })
    expect((await w.call('/v1/keys/self', { key: made.secret })).status).toBe(403)
  })
})
