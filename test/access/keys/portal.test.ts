import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { engines, type World, world } from '../../support/world.ts'
import { dollar, type Own, signedIn } from './own.ts'

const now = Date.UTC(2026, 6, 15, 12)
const day = 86_400_000

describe.each(engines)('/api/portal/keys on %s', (engine) => {
  let w: World
  let own: Own
  let stranger: Own
  beforeAll(async () => {
    w = await world({ engine, now })
    own = await signedIn(w)
    stranger = await signedIn(w)
  }, 30_000)
  afterAll(() => w.stop())

  const make = async (who: Own, wish: object = {}) => {
    const body = { name: 'one', cap: { limit_nusd: 2 * dollar, window: 'day' }, ...wish }
    const answer = await who.json('/api/portal/keys', body)
    expect(answer.status).toBe(201)
    return answer.json()
  }
  const typeOf = async (answer: Response) => [answer.status, (await answer.json()).error.type]
  const errorOf = async (answer: Response) => (await answer.json()).error

  describe('POST /api/portal/keys', () => {
    test('201: makes a key as /v1 does, with a secret that works and is not shown again', async () => {
      const made = await make(own, { tags: { team: 'x' }, models: ['counterfoil/*'] })
      expect(made).toMatchObject({
        object: 'key',
        name: 'one',
        depth: 0,
        status: 'usable',
        expires_at: new Date(now + 90 * day).toISOString(),
        cap: { limit_nusd: 2 * dollar, window: 'day' },
        tags: { team: 'x' },
        models: ['counterfoil/*'],
      })
      const self = await w.call('/v1/keys/self', { key: made.secret })
      expect(await self.json()).toMatchObject({ id: made.id })
      const all = await (await own.call(`/api/portal/keys/${made.id}`)).text()
      expect(all).not.toContain('sk-service-')
    })

    test('201: a form sent by a script makes one too, and answers in JSON', async () => {
      const answer = await own.call('/api/portal/keys', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'name=by+form&cap=1.25&window=week&expires=30d',
      })
      expect(answer.status).toBe(201)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await answer.json()).toMatchObject({
        name: 'by form',
        cap: { limit_nusd: 1.25 * dollar, window: 'week' },
        expires_at: new Date(now + 30 * day).toISOString(),
        secret: expect.stringMatching(/^sk-service-\w{49}$/),
      })
    })

    test('the wallet stands in the audit', async () => {
      const { id } = await make(own)
      await own.json(`/api/portal/keys/${id}/revoke`)
      expect(await own.get(`/api/portal/keys/${id}`)).toMatchObject({ revoked_by: own.account })
    })

    test('400: what the key above does not have, what is unknown, and a parent of others', async () => {
      const top = await make(own)
      const foreign = await make(stranger)
      const cap = { limit_nusd: 3 * dollar }
      const post = (wish: object) =>
        own.json('/api/portal/keys', { name: 'n', cap: { limit_nusd: 1 }, ...wish })
      expect(await errorOf(await post({ cap, parent_id: top.id }))).toMatchObject({
        type: 'invalid_request',
        param: 'cap.limit_nusd',
      })
      for (const parent of [foreign.id, `key_${'0'.repeat(26)}`, 'x']) {
        expect(await errorOf(await post({ parent_id: parent }))).toMatchObject({
          type: 'invalid_request',
          param: 'parent_id',
          message: 'There is no such parent key.',
        })
      }
      expect(await errorOf(await post({ account: stranger.account }))).toMatchObject({
        param: 'account',
      })
    })
  })

  describe('GET /api/portal/keys', () => {
    test('The list holds all keys of the account and no others, newest first, by page', async () => {
      const who = await signedIn(w)
      const ids: string[] = []
      for (const name of ['a', 'b', 'c']) {
        w.advance(1)
        ids.unshift((await make(who, { name })).id)
      }
      const all = await who.get('/api/portal/keys')
      expect(all.data.map((key: { id: string }) => key.id)).toEqual(ids)
      expect(all).toMatchObject({ object: 'list', has_more: false, first_id: ids[0] })
      const page = await who.get('/api/portal/keys?limit=2')
      expect([page.data.length, page.has_more]).toEqual([2, true])
      const rest = await who.get(`/api/portal/keys?limit=2&after=${page.last_id}`)
      expect([rest.data[0].id, rest.has_more]).toEqual([ids[2], false])
      const [other] = (await stranger.get('/api/portal/keys')).data
      expect(await typeOf(await who.call(`/api/portal/keys?after=${other.id}`))).toEqual([
        400,
        'invalid_request',
      ])
    })

    test('filters by state and by a part of the name', async () => {
      const who = await signedIn(w)
      const names = async (query: string) =>
        (await who.get(`/api/portal/keys?${query}`)).data.map((key: { name: string }) => key.name)
      const soon = new Date(w.deps.clock.now() + 1000).toISOString()
      for (const name of ['Crawler 1', 'crawler_2', 'paused 100%', 'gone']) {
        w.advance(1)
        const expires = name === 'Crawler 1' ? { expires_at: soon } : {}
        const { id } = await make(who, { name, ...expires })
        if (name.startsWith('paused')) await who.json(`/api/portal/keys/${id}/pause`)
        if (name === 'gone') await who.json(`/api/portal/keys/${id}/revoke`)
      }
      w.advance(2000)
      expect(await names('state=usable')).toEqual(['crawler_2'])
      expect(await names('state=paused')).toEqual(['paused 100%'])
      expect(await names('state=expired')).toEqual(['Crawler 1'])
      expect(await names('state=revoked')).toEqual(['gone'])
      expect(await names('name=CRAWL')).toEqual(['crawler_2', 'Crawler 1'])
      expect(await names('name=_')).toEqual(['crawler_2'])
      expect(await names('name=%25')).toEqual(['paused 100%'])
      expect(await names('state=paused&limit=1&name=x')).toEqual([])
      expect((await who.call('/api/portal/keys?state=lost')).status).toBe(400)
    })
  })

  describe('/api/portal/keys/:id', () => {
    test('PATCH and POST change it, within what its parent has', async () => {
      const top = await make(own)
      const { id } = await make(own, { parent_id: top.id, cap: { limit_nusd: dollar } })
      const path = `/api/portal/keys/${id}`
      const patched = await own.call(path, { method: 'PATCH', json: { name: 'two' } })
      expect(await patched.json()).toMatchObject({ id, name: 'two' })
      const json = { cap: { limit_nusd: 2 * dollar } }
      expect(await (await own.json(path, json)).json()).toMatchObject({ cap: json.cap })
      const more = await own.json(path, { cap: { limit_nusd: 3 * dollar } })
      expect(await errorOf(more)).toMatchObject({ param: 'cap.limit_nusd' })
    })

    test('pause, resume, rotate and revoke do to it what /v1 does', async () => {
      const made = await make(own)
      const path = `/api/portal/keys/${made.id}`
      const after = async (verb: string, json?: unknown) =>
        (await own.json(`${path}/${verb}`, json)).json()
      const works = async (key: string) => (await w.call('/v1/keys', { key })).status
      expect(await after('pause')).toMatchObject({ id: made.id, status: 'paused' })
      expect(await works(made.secret)).toBe(403)
      expect(await after('resume')).toMatchObject({ status: 'usable' })
      expect(await works(made.secret)).toBe(200)

      const next = await after('rotate', { overlap_seconds: 60 })
      expect(next.rotation).toEqual({
        overlap_until: new Date(w.deps.clock.now() + 60_000).toISOString(),
      })
      expect([await works(made.secret), await works(next.secret)]).toEqual([200, 200])
      const last = await after('rotate')
      expect([await works(next.secret), await works(last.secret)]).toEqual([401, 200])
      expect(
        await errorOf(await own.json(`${path}/rotate`, { overlap_seconds: -1 })),
      ).toMatchObject({
        param: 'overlap_seconds',
      })

      expect(await after('revoke')).toMatchObject({ status: 'revoked', revoked_by: own.account })
      expect(await works(last.secret)).toBe(403)
      expect(await typeOf(await own.json(`${path}/resume`))).toEqual([409, 'conflict'])
    })

    test('revoking stops the keys below as well', async () => {
      const top = await make(own)
      const { id } = await make(own, { parent_id: top.id, cap: { limit_nusd: 1 } })
      await own.json(`/api/portal/keys/${top.id}/revoke`)
      expect(await own.get(`/api/portal/keys/${id}`)).toMatchObject({ status: 'revoked' })
    })
  })

  const routes: [string, string][] = [
    ['GET', '/api/portal/keys'],
    ['POST', '/api/portal/keys'],
    ['GET', '/api/portal/keys/:id'],
    ['PATCH', '/api/portal/keys/:id'],
    ['POST', '/api/portal/keys/:id'],
    ...['pause', 'resume', 'rotate', 'revoke'].map((verb): [string, string] => [
      'POST',
      `/api/portal/keys/:id/${verb}`,
    ]),
  ]

  test.each(routes)('401: %s %s without a session', async (method, path) => {
    const { id } = await make(own)
    const answer = await w.call(path.replace(':id', id), { method })
    expect(await typeOf(answer)).toEqual([401, 'session_required'])
  })

  test.each(routes.filter(([, path]) => path.includes(':id')))(
    '404: %s %s of another account, as for a key that is not there',
    async (method, path) => {
      const { id } = await make(own)
      const ask = async (named: string) => {
        const answer = await stranger.call(path.replace(':id', named), { method })
        const { error } = await answer.json()
        return [answer.status, error.type, error.message]
      }
      const foreign = await ask(id)
      expect(foreign).toEqual([404, 'not_found', 'There is no such key.'])
      expect(await ask(`key_${'0'.repeat(26)}`)).toEqual(foreign)
      expect(await ask('x')).toEqual(foreign)
      expect(await own.get(`/api/portal/keys/${id}`)).toMatchObject({ status: 'usable' })
    },
  )

  test.each(['', '/rotate', '/revoke'])(
    '404: the page /dashboard/keys/:id%s of others',
    async (at) => {
      const { id } = await make(own)
      expect((await stranger.page(`/dashboard/keys/${id}${at}`)).status).toBe(404)
      expect((await own.page(`/dashboard/keys/${id}${at}`)).status).toBe(200)
    },
  )

  test('a page without a session goes to the sign-in and comes back', async () => {
    const answer = await w.call('/dashboard/keys?state=paused', { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/signin?next=%2Fdashboard%2Fkeys%3Fstate%3Dpaused',
    ])
  })
})
