import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Scope, scopes } from '../../src/access/keys/key.ts'
import { isSecret } from '../../src/access/keys/secret.ts'
import { rows } from '../../src/storage/db/query-steps.ts'
import { everythingWritten } from '../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const now = Date.UTC(2026, 6, 15, 12)

describe.each(engines)('/v1/keys on %s', (engine) => {
  let w: World
  let top: { id: string; secret: string }
  let foreign: { id: string; secret: string }
  beforeAll(async () => {
    w = await world({ engine, now })
    const made = await w.key({ balance: 10n * usd, capLimit: 5n * usd, scopes: [...scopes] })
    top = { id: made.key.id, secret: made.secret }
    const other = await w.key({ account: otherAccount, scopes: [...scopes] })
    foreign = { id: other.key.id, secret: other.secret }
  }, 30_000)
  afterAll(() => w.stop())

  const get = async (key: string, path: string) => (await w.call(path, { key })).json()
  const post = (key: string, path: string, json?: unknown) =>
    json === undefined ? w.call(path, { key, method: 'POST' }) : w.call(path, { key, json })
  const mint = async (key: string, wish: object = {}) => {
    const json = { name: 'child', cap: { limit_nusd: 1_000_000, window: 'day' }, ...wish }
    const answer = await w.call('/v1/keys', { key, json })
    expect(answer.status).toBe(201)
    return { headers: answer.headers, ...(await answer.json()) }
  }
  const typeOf = async (answer: Response) => [answer.status, (await answer.json()).error.type]

  describe('GET /v1/keys/self', () => {
    test('tells the key, its account, what binds it, and what would refuse next', async () => {
      const child = await mint(top.secret)
      expect(await get(child.secret, '/v1/keys/self')).toEqual({
        id: child.id,
        object: 'key',
        name: 'child',
        fingerprint: child.fingerprint,
        parent_id: top.id,
        depth: 1,
        status: 'usable',
        created_at: '2026-07-15T12:00:00.000Z',
        expires_at: '2026-10-13T12:00:00.000Z',
        revoked_at: null,
        revoked_by: null,
        last_used_at: null,
        cap: {
          limit_nusd: 1_000_000,
          window: 'day',
          spent_nusd: 0,
          held_nusd: 0,
          remaining_nusd: 1_000_000,
          resets_at: '2026-07-16T00:00:00.000Z',
        },
        limits: { rpm: null, concurrency: null, max_cost_per_run_nusd: null },
        scopes: ['runs:write', 'runs:read', 'usage:read', 'receipts:read', 'keys:read'],
        models: [],
        ip_cidrs: [],
        tags: {},
        passport: null,
        children_count: 0,
        rotation: null,
        account: {
          address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
          balance_nusd: 10_000_000_000,
          held_nusd: 0,
          available_nusd: 10_000_000_000,
          plan: 'free',
        },
        chain: [
          {
            key_id: child.id,
            limited_by: 'key',
            limit_nusd: 1_000_000,
            remaining_nusd: 1_000_000,
            resets_at: '2026-07-16T00:00:00.000Z',
            expires_at: '2026-10-13T12:00:00.000Z',
            status: 'usable',
          },
          {
            key_id: top.id,
            limited_by: 'ancestor',
            limit_nusd: 5_000_000_000,
            remaining_nusd: 5_000_000_000,
            resets_at: null,
            expires_at: '2026-10-13T12:00:00.000Z',
            status: 'usable',
          },
        ],
        next_block: { type: 'key_expired', at: '2026-10-13T12:00:00.000Z' },
      })
    })

    test('answers for a paused key, which every other route refuses', async () => {
      const child = await mint(top.secret)
      expect((await post(top.secret, `/v1/keys/${child.id}/pause`)).status).toBe(200)
      const self = await get(child.secret, '/v1/keys/self')
      expect(self).toMatchObject({ status: 'paused', next_block: { type: 'key_paused' } })
      expect(await typeOf(await w.call('/v1/keys', { key: child.secret }))).toEqual([
        403,
        'key_paused',
      ])
    })
  })

  describe('POST /v1/keys', () => {
    test('201 with the secret, this once, never to be stored', async () => {
      const made = await mint(top.secret)
      expect(isSecret(made.secret)).toBe(true)
      expect(made.headers.get('cache-control')).toBe('no-store')
      const shown = await get(top.secret, `/v1/keys/${made.id}`)
      const { secret, headers, ...view } = made
      expect(shown).toEqual(view)
      expect(await everythingWritten(w)).not.toContain(secret)
    })

    test('takes all that a key can be', async () => {
      const wish = {
        name: 'all',
        cap: { limit_nusd: 5, window: 'month' },
        expires_at: '2026-07-20T02:00:00+02:00',
        scopes: ['keys:mint', 'runs:write'],
        models: ['counterfoil/*'],
        ip_cidrs: ['127.0.0.0/8', '::1'],
        limits: { rpm: 10, concurrency: 2, max_cost_per_run_nusd: 4 },
        tags: { team: 'a' },
      }
      expect(await mint(top.secret, wish)).toMatchObject({
        ...wish,
        expires_at: '2026-07-20T00:00:00.000Z',
        scopes: ['runs:write', 'keys:mint'],
      })
    })

    test('makes a key under any key below the caller, and nowhere else', async () => {
      const child = await mint(top.secret, { scopes: ['keys:mint'] })
      const grandchild = await mint(top.secret, { parent_id: child.id, scopes: [] })
      expect(grandchild).toMatchObject({ parent_id: child.id, depth: 2 })
      const unknown = `key_${'0'.repeat(26)}`
      const bad = [top.id, foreign.id, 'key_none', unknown]
      const answers = bad.map(async (parent_id) => {
        const json = { name: 'x', cap: { limit_nusd: 1 }, parent_id }
        const answer = await w.call('/v1/keys', { key: child.secret, json })
        const { type, param, message } = (await answer.json()).error
        return { type, param, message }
      })
      const all = await Promise.all(answers)
      expect(all[0]).toMatchObject({ type: 'invalid_request', param: 'parent_id' })
      for (const one of all) expect(one).toEqual(all[0] ?? one)
    })

    test('403 without keys:mint, before the body is looked at', async () => {
      const child = await mint(top.secret)
      const answer = await w.call('/v1/keys', { key: child.secret, method: 'POST', body: '{' })
      expect(await typeOf(answer)).toEqual([403, 'scope_denied'])
    })
  })

  describe('GET /v1/keys', () => {
    test('lists the key and all below it in pages, newest first, and nothing above', async () => {
      const child = await mint(top.secret, { scopes: ['keys:mint', 'keys:read'] })
      w.advance(1)
      const made = [child]
      for (let i = 0; i < 4; i++) {
        made.unshift(await mint(child.secret))
        w.advance(1)
      }
      const seen: string[] = []
      let path = '/v1/keys?limit=2'
      for (;;) {
        const page = await get(child.secret, path)
        seen.push(...page.data.map((key: { id: string }) => key.id))
        if (!page.has_more) break
        path = `/v1/keys?limit=2&after=${page.last_id}`
      }
      expect(seen).toEqual(made.map(({ id }) => id))
      for (const after of [top.id, foreign.id, 'x']) {
        const refused = await w.call(`/v1/keys?after=${after}`, { key: child.secret })
        expect(await typeOf(refused)).toEqual([400, 'invalid_request'])
      }
    })
  })

  describe('a key of somebody else', () => {
    const routes: [method: string, path: string][] = [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/revoke'],
      ['POST', '/rotate'],
    ]
    test.each(routes)('is the 404 of none: %s /v1/keys/:id%s', async (method, path) => {
      const child = await mint(top.secret, { scopes: [...scopes] })
      const answers = [foreign.id, top.id, `key_${'0'.repeat(26)}`, 'nonsense'].map(async (id) => {
        const json = method === 'PATCH' ? { json: { name: 'x' } } : {}
        const answer = await w.call(`/v1/keys/${id}${path}`, { key: child.secret, method, ...json })
        const { error } = await answer.json()
        return { status: answer.status, ...error, request_id: '' }
      })
      const [first, ...others] = await Promise.all(answers)
      expect(first).toMatchObject({ status: 404, type: 'not_found' })
      for (const other of others) expect(other).toEqual(first)
    })
  })

  describe('POST /v1/keys/:id/…', () => {
    test('pause and resume hold and free the key and those below, twice the same', async () => {
      const child = await mint(top.secret, { scopes: ['keys:mint', 'keys:read'] })
      const below = await mint(child.secret)
      const status = async (key: string) => (await get(key, '/v1/keys/self')).status
      for (const verb of ['pause', 'pause']) {
        expect((await post(top.secret, `/v1/keys/${child.id}/${verb}`)).status).toBe(200)
        expect([await status(child.secret), await status(below.secret)]).toEqual([
          'paused',
          'paused',
        ])
      }
      for (const verb of ['resume', 'resume']) {
        const answer = await post(top.secret, `/v1/keys/${child.id}/${verb}`)
        expect((await answer.json()).status).toBe('usable')
        expect(await status(below.secret)).toBe('usable')
      }
    })

    test('revoke is 200 twice, and takes those below with it at once', async () => {
      const child = await mint(top.secret, { scopes: ['keys:mint', 'keys:read'] })
      const below = await mint(child.secret)
      for (let i = 0; i < 2; i++) {
        const answer = await post(top.secret, `/v1/keys/${child.id}/revoke`)
        expect(answer.status).toBe(200)
        expect(await answer.json()).toMatchObject({ status: 'revoked', revoked_by: top.id })
      }
      const refused = await w.call('/v1/keys/self', { key: below.secret })
      expect(await typeOf(refused)).toEqual([403, 'key_revoked'])
      for (const verb of ['pause', 'resume', 'rotate']) {
        const answer = await post(top.secret, `/v1/keys/${below.id}/${verb}`)
        expect(await typeOf(answer)).toEqual([409, 'conflict'])
      }
      const patch = { key: top.secret, method: 'PATCH', json: { name: 'x' } }
      const patched = await w.call(`/v1/keys/${below.id}`, patch)
      expect(await typeOf(patched)).toEqual([409, 'conflict'])
    })

    test('self: any key gives itself up, or takes another secret', async () => {
      const child = await mint(top.secret, { scopes: [] as Scope[] })
      const rotated = await (await post(child.secret, '/v1/keys/self/rotate')).json()
      expect(rotated).toMatchObject({ id: child.id, rotation: null })
      expect(await typeOf(await w.call('/v1/keys/self', { key: child.secret }))).toEqual([
        401,
        'invalid_key',
      ])
      const revoked = await post(rotated.secret, `/v1/keys/${child.id}/revoke`)
      expect(await revoked.json()).toMatchObject({ id: child.id, status: 'revoked' })
    })

    test('403 for a key that would change, pause or resume itself', async () => {
      for (const id of [top.id, 'self']) {
        for (const verb of ['pause', 'resume']) {
          const answer = await post(top.secret, `/v1/keys/${id}/${verb}`)
          expect(await typeOf(answer)).toEqual([403, 'scope_denied'])
        }
      }
      const json = { name: 'me' }
      const answer = await w.call(`/v1/keys/${top.id}`, { key: top.secret, method: 'PATCH', json })
      expect(await typeOf(answer)).toEqual([403, 'scope_denied'])
    })
  })

  test('every change is in the audit, with who did it and never a secret', async () => {
    const child = await mint(top.secret, { name: 'audited' })
    const call = { key: top.secret, method: 'PATCH' }
    await w.call(`/v1/keys/${child.id}`, { ...call, json: { cap: { limit_nusd: 7 } } })
    await w.call(`/v1/keys/${child.id}`, { ...call, json: { cap: { limit_nusd: 7 } } })
    const rotated = await post(top.secret, `/v1/keys/${child.id}/rotate`, { overlap_seconds: 60 })
    const { secret } = await rotated.json()
    for (const verb of ['pause', 'pause', 'resume', 'resume', 'revoke', 'revoke']) {
      await post(top.secret, `/v1/keys/${child.id}/${verb}`)
    }
    const { auditEntries } = w.db.tables
    const all = await w.db.read((q) => rows(q.select().from(auditEntries).orderBy(auditEntries.id)))
    const own = all.filter(({ subject }) => subject === child.id)
    expect(own.map(({ action, actor }) => [action, actor]).sort()).toEqual(
      ['change', 'create', 'pause', 'resume', 'revoke', 'rotate'].map((verb) => [
        `key.${verb}`,
        top.id,
      ]),
    )
    expect(own.find(({ action }) => action === 'key.change')?.detail).toEqual({
      'cap.limit_nusd': { from: '1000000', to: '7' },
    })
    expect(own.every(({ accountId }) => accountId === testAccount)).toBe(true)
    const written = await everythingWritten(w)
    for (const one of [child.secret, secret]) expect(written).not.toContain(one)
  })
})
