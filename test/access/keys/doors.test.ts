import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isSecret } from '../../../src/access/keys/secret.ts'
import { everythingWritten } from '../../support/runs.ts'
import { engines, type World, world } from '../../support/world.ts'
import { type Caller, callsOf, makeCallers, now, typeOf } from './doors.ts'

describe.each(engines)('the routes of keys on %s', (engine) => {
  let w: World
  let top: Caller
  let foreign: Caller
  const { get, post, mint } = callsOf(() => w)
  beforeAll(async () => {
    w = await world({ engine, now })
    ;({ top, foreign } = await makeCallers(w))
  }, 30_000)
  afterAll(() => w.stop())

  describe('GET /v1/keys/self', () => {
    describe('200', () => {
      test('shows the key, its account, its chain and what blocks it next', async () => {
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
          paused_at: null,
          paused_reason: null,
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
          limits: {
            rpm: null,
            concurrency: null,
            max_cost_per_run_nusd: null,
            fit: false,
            brake: null,
          },
          scopes: ['runs:write', 'runs:read', 'usage:read', 'receipts:read', 'keys:read'],
          models: [],
          ip_cidrs: [],
          tags: {},
          passport: null,
          children_count: 0,
          rotation: null,
          account: {
            address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
            // It is below another key, and learns of its own part alone.
            covers: 'key',
            balance_nusd: 1_000_000,
            held_nusd: 0,
            available_nusd: 1_000_000,
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

      test('also serves a paused key, which every other route refuses', async () => {
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
  })

  describe('POST /v1/keys', () => {
    describe('201', () => {
      test('returns the secret once and stores no copy of it', async () => {
        const made = await mint(top.secret)
        expect(isSecret(made.secret)).toBe(true)
        expect(made.headers.get('cache-control')).toBe('no-store')
        const shown = await get(top.secret, `/v1/keys/${made.id}`)
        const { secret, headers, ...view } = made
        expect(shown).toEqual(view)
        expect(await everythingWritten(w)).not.toContain(secret)
      })

      test('accepts every property that a key has', async () => {
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

      test('creates a key below any key of the caller’s subtree', async () => {
        const child = await mint(top.secret, { scopes: ['keys:mint'] })
        const grandchild = await mint(top.secret, { parent_id: child.id, scopes: [] })
        expect(grandchild).toMatchObject({ parent_id: child.id, depth: 2 })
      })
    })

    describe('400', () => {
      test('refuses every parent outside the subtree in the same words, whether it exists or not', async () => {
        const child = await mint(top.secret, { scopes: ['keys:mint'] })
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
    })

    describe('403', () => {
      test('refuses a caller without keys:mint before it reads the body', async () => {
        const child = await mint(top.secret)
        const answer = await w.call('/v1/keys', { key: child.secret, method: 'POST', body: '{' })
        expect(await typeOf(answer)).toEqual([403, 'scope_denied'])
      })
    })
  })

  describe('GET /v1/keys', () => {
    describe('200', () => {
      test('lists the caller and the keys below it in pages, newest first, and none above', async () => {
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
      })
    })

    describe('400', () => {
      test('refuses a cursor that names a key the caller cannot see', async () => {
        const child = await mint(top.secret, { scopes: ['keys:read'] })
        for (const after of [top.id, foreign.id, 'x']) {
          const refused = await w.call(`/v1/keys?after=${after}`, { key: child.secret })
          expect(await typeOf(refused)).toEqual([400, 'invalid_request'])
        }
      })
    })
  })
})
