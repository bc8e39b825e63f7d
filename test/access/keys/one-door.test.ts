import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Scope, scopes } from '../../../src/access/keys/key.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { everythingWritten } from '../../support/runs.ts'
import { engines, testAccount, type World, world } from '../../support/world.ts'
import { type Caller, callsOf, makeCallers, now, typeOf } from './doors.ts'

describe.each(engines)('the routes of one key on %s', (engine) => {
  let w: World
  let top: Caller
  let foreign: Caller
  const { get, post, mint } = callsOf(() => w)
  beforeAll(async () => {
    w = await world({ engine, now })
    ;({ top, foreign } = await makeCallers(w))
  }, 30_000)
  afterAll(() => w.stop())

  describe('every route of /v1/keys/:id', () => {
    describe('404', () => {
      const routes: [method: string, path: string][] = [
        ['GET', ''],
        ['PATCH', ''],
        ['POST', '/pause'],
        ['POST', '/resume'],
        ['POST', '/revoke'],
        ['POST', '/rotate'],
      ]

      promise`A12`
      test.each(routes)(
        '%s /v1/keys/:id%s answers alike for a foreign, a higher and a missing key',
        async (method, path) => {
          const child = await mint(top.secret, { scopes: [...scopes] })
          const answers = [foreign.id, top.id, `key_${'0'.repeat(26)}`, 'nonsense'].map(
            async (id) => {
              const json = method === 'PATCH' ? { json: { name: 'x' } } : {}
              const answer = await w.call(`/v1/keys/${id}${path}`, {
                key: child.secret,
                method,
                ...json,
              })
              const { error } = await answer.json()
              return { status: answer.status, ...error, request_id: '' }
            },
          )
          const [first, ...others] = await Promise.all(answers)
          expect(first).toMatchObject({ status: 404, type: 'not_found' })
          for (const other of others) expect(other).toEqual(first)
        },
      )
    })
  })

  describe('PATCH /v1/keys/:id', () => {
    describe('403', () => {
      test('refuses a key that changes itself', async () => {
        const json = { name: 'me' }
        const answer = await w.call(`/v1/keys/${top.id}`, {
          key: top.secret,
          method: 'PATCH',
          json,
        })
        expect(await typeOf(answer)).toEqual([403, 'scope_denied'])
      })
    })
  })

  describe('POST /v1/keys/:id/pause and /resume', () => {
    describe('200', () => {
      test('pauses and resumes the key and those below it, and is the same when repeated', async () => {
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
    })

    describe('403', () => {
      test('refuses a key that pauses or resumes itself', async () => {
        for (const id of [top.id, 'self']) {
          for (const verb of ['pause', 'resume']) {
            const answer = await post(top.secret, `/v1/keys/${id}/${verb}`)
            expect(await typeOf(answer)).toEqual([403, 'scope_denied'])
          }
        }
      })
    })
  })

  describe('POST /v1/keys/:id/revoke', () => {
    describe('200', () => {
      test('revokes the key and those below it at once, and is the same when repeated', async () => {
        const child = await mint(top.secret, { scopes: ['keys:mint', 'keys:read'] })
        const below = await mint(child.secret)
        for (let i = 0; i < 2; i++) {
          const answer = await post(top.secret, `/v1/keys/${child.id}/revoke`)
          expect(answer.status).toBe(200)
          expect(await answer.json()).toMatchObject({ status: 'revoked', revoked_by: top.id })
        }
        const refused = await w.call('/v1/keys/self', { key: below.secret })
        expect(await typeOf(refused)).toEqual([403, 'key_revoked'])
      })

      test('lets any key revoke itself, no matter what its scopes', async () => {
        const child = await mint(top.secret, { scopes: [] as Scope[] })
        const revoked = await post(child.secret, `/v1/keys/${child.id}/revoke`)
        expect(await revoked.json()).toMatchObject({ id: child.id, status: 'revoked' })
      })
    })

    describe('409', () => {
      test('refuses every change of a revoked key', async () => {
        const child = await mint(top.secret, { scopes: ['keys:mint', 'keys:read'] })
        const below = await mint(child.secret)
        await post(top.secret, `/v1/keys/${child.id}/revoke`)
        for (const verb of ['pause', 'resume', 'rotate']) {
          const answer = await post(top.secret, `/v1/keys/${below.id}/${verb}`)
          expect(await typeOf(answer)).toEqual([409, 'conflict'])
        }
        const patch = { key: top.secret, method: 'PATCH', json: { name: 'x' } }
        const patched = await w.call(`/v1/keys/${below.id}`, patch)
        expect(await typeOf(patched)).toEqual([409, 'conflict'])
      })
    })
  })

  describe('POST /v1/keys/:id/rotate', () => {
    describe('200', () => {
      test('gives a key that may mint another secret of its own, and the old one ends', async () => {
        const child = await mint(top.secret, { scopes: ['keys:mint'] as Scope[] })
        const rotated = await (await post(child.secret, '/v1/keys/self/rotate')).json()
        expect(rotated).toMatchObject({ id: child.id, rotation: null })
        expect(await typeOf(await w.call('/v1/keys/self', { key: child.secret }))).toEqual([
          401,
          'invalid_key',
        ])
      })
    })
  })

  test('the audit has every change of a key with its actor, and never a secret', async () => {
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
