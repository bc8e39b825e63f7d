import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { browser } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { arrive, type Person } from './office.ts'

const wishOf = (handle: string) => ({ handle, display_name: 'A name', kind: 'agent' })

describe.each(engines)('claims of handles on %s', (engine) => {
  let w: World
  let one: Person
  let other: Person
  beforeAll(async () => {
    w = await world({ engine })
    one = await arrive(w)
    other = await arrive(w)
  }, 60_000)
  afterAll(() => w.stop())

  const stored = () => w.db.read((q) => rows(q.select().from(w.db.tables.passports)))
  const refusedWith = async (person: Person, handle: string) => {
    const { status, body } = await person.post('', wishOf(handle))
    return [status, body.error?.type, body.error?.param]
  }

  test('of 50 claims of one handle at once, by two accounts, one is made', async () => {
    const claims = Array.from({ length: 50 }, (_, i) =>
      (i % 2 === 0 ? one : other).post('', wishOf('only-one')),
    )
    const answers = await Promise.all(claims)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    expect((await stored()).filter(({ handle }) => handle === 'only-one')).toHaveLength(1)
  }, 30_000)

  test('of 50 claims of handles that look alike, one is made, and the rest hear the rule', async () => {
    const alike = ['morning-owl', 'rnorning-owl', 'm0rning-owl', 'morn1ng-owl', 'mor-ning-owl']
    const claims = Array.from({ length: 50 }, (_, i) =>
      (i % 2 === 0 ? one : other).post('', wishOf(alike[i % alike.length] ?? '')),
    )
    const answers = await Promise.all(claims)
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.every(({ body }) => body.error.type === 'conflict')).toBe(true)
    const rest = alike.filter((handle) => handle !== made[0]?.body.handle)
    for (const handle of rest) {
      const { body } = await other.post('', wishOf(handle))
      expect(body.error.message).toContain('looks like one that is taken')
    }
  }, 30_000)

  test('409 for a taken handle, also to its own owner; 400 for a reserved one and for none', async () => {
    expect((await one.post('', wishOf('tidepool'))).status).toBe(201)
    expect(await refusedWith(one, 'tidepool')).toEqual([409, 'conflict', 'handle'])
    expect(await refusedWith(other, 't1depool')).toEqual([409, 'conflict', 'handle'])
    for (const handle of ['admin', 'supp0rt', 'Abc', 'a--b', 'ab', '..', 'a\0b', 'x'.repeat(31)]) {
      expect(await refusedWith(other, handle)).toEqual([400, 'invalid_request', 'handle'])
    }
  })

  test('400 with the field that is wrong', async () => {
    const wrong: [object, string][] = [
      [{ display_name: '' }, 'display_name'],
      [{ display_name: 'a\u202eb' }, 'display_name'],
      [{ kind: 'robot' }, 'kind'],
      [{ bio: 'x'.repeat(281) }, 'bio'],
      [{ links: ['http://example.com'] }, 'links'],
      [{ links: ['javascript:alert(1)'] }, 'links'],
      [{ owner: other.account }, 'owner'],
    ]
    for (const [more, param] of wrong) {
      const { status, body } = await one.post('', { ...wishOf('wrong-one'), ...more })
      expect([status, body.error.param]).toEqual([400, param])
    }
    expect((await stored()).some(({ handle }) => handle === 'wrong-one')).toBe(false)
  })

  test('an account has 20 at most, however many it asks for at once', async () => {
    const many = await arrive(w)
    const letters = Array.from('abcdefghjk', (one) => Array.from('pqt', (two) => one + two)).flat()
    const names = letters.map((end) => `many-${end}`)
    const answers = await Promise.all(names.map((handle) => many.post('', wishOf(handle))))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    expect((await stored()).filter(({ accountId }) => accountId === many.account)).toHaveLength(20)
    const { status, body } = await many.post('', wishOf('one-more'))
    expect([status, body.error.type]).toEqual([409, 'conflict'])
    expect(body.error.message).toContain('20 passports')
  }, 30_000)

  test('with an Idempotency-Key one is made, answered again; another body is 422', async () => {
    const post = (json: object) =>
      one.own.call('/api/portal/passports', { json, headers: { 'idempotency-key': 'once' } })
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(wishOf('once-only'))))
    expect(answers.every(({ status }) => status === 201)).toBe(true)
    const bodies = new Set(await Promise.all(answers.map((answer) => answer.text())))
    expect(bodies.size).toBe(1)
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')
    expect(replayed).toHaveLength(7)
    expect((await post(wishOf('once-more'))).status).toBe(422)
    // A refusal frees the key.
    const again = (handle: string) =>
      one.own.call('/api/portal/passports', {
        json: wishOf(handle),
        headers: { 'idempotency-key': 'freed' },
      })
    expect((await again('once-only')).status).toBe(409)
    expect((await again('once-free')).status).toBe(201)
  })

  test.each([
    ['GET', ''],
    ['POST', ''],
    ['GET', '/tidepool'],
    ['PATCH', '/tidepool'],
    ['POST', '/tidepool'],
    ['POST', '/tidepool/publish'],
    ['POST', '/tidepool/hide'],
    ['POST', '/tidepool/retire'],
    ['POST', '/tidepool/bind'],
    ['POST', '/tidepool/unbind'],
    ['POST', '/tidepool/statement'],
  ])('401 session_required without a session: %s %s', async (method, path) => {
    const answer = await browser(w).call(`/api/portal/passports${path}`, { method })
    expect(answer.status).toBe(401)
    expect((await answer.json()).error.type).toBe('session_required')
  })

  promise`A12`
  test('404 for another account’s passport, no matter what is asked about it', async () => {
    await one.post('', wishOf('mine-only'))
    const asked = ['', '/publish', '/hide', '/retire', '/bind', '/unbind', '/statement']
    for (const path of asked) {
      const { status, body } = await other.post(`/mine-only${path}`, {})
      expect([status, body.error.type]).toEqual([404, 'not_found'])
    }
    expect((await other.post('/mine-only', {}, 'PATCH')).status).toBe(404)
    expect((await one.own.call('/api/portal/passports/mine-only')).status).toBe(200)
    const page = await other.own.call('/dashboard/passports/mine-only', {
      headers: { accept: 'text/html' },
    })
    expect(page.status).toBe(404)
  })
})
