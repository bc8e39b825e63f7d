import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { getTableColumns } from 'drizzle-orm'
import { changeKey } from '../../../src/access/keys/change.ts'
import { dayMs } from '../../../src/access/keys/key.ts'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import { keptColumns, renewKey } from '../../../src/front/console/console-key.ts'
import { ownerOf } from '../../../src/kernel/acting.ts'
import { type Browser, browser } from '../../access/accounts/wallet.ts'
import { lastRun, pricedBuiltins } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { account, askByStream, postForm, readable, runPath, saidIn, signedIn } from './support.ts'

const start = Date.UTC(2026, 6, 1, 12)
const ask = { model: 'counterfoil/echo-1', input: 'one two' }
const path = '/api/portal/console'

describe('the key that the console spends through', () => {
  let w: World
  let own: Browser
  beforeEach(async () => {
    w = await world({ toml: pricedBuiltins, now: start })
    own = await signedIn(w)
  })
  afterEach(() => w?.stop())

  const state = async () => (await own.call(path)).json()
  const error = async (answer: Promise<Response>) => (await (await answer).json()).error

  test('there is none before the first use; the cap it will have is $1 a day', async () => {
    const told = await state()
    expect(told.key).toBe(null)
    expect(told.cap).toEqual({
      limit_nusd: 1_000_000_000,
      window: 'day',
      spent_nusd: 0,
      held_nusd: 0,
      remaining_nusd: 1_000_000_000,
      resets_at: '2026-07-02T00:00:00.000Z',
    })
    expect(told.models.map(({ id }: { id: string }) => id)).toEqual(['counterfoil/echo-1'])
  })

  test('the first message makes it: an ordinary root key named Console that can only run', async () => {
    expect(saidIn(await askByStream(own, ask))).toBe('one two')
    const { key } = await state()
    expect(key).toMatchObject({
      name: 'Console',
      depth: 0,
      status: 'usable',
      scopes: ['runs:write'],
      cap: {
        limit_nusd: 1_000_000_000,
        window: 'day',
        spent_nusd: Number((await lastRun(w)).cost),
      },
    })
    expect((await lastRun(w)).keyId).toBe(key.id)
    expect(JSON.stringify(key)).not.toContain('sk-service-')
    await askByStream(own, ask)
    expect((await lastRun(w)).keyId).toBe(key.id)
  })

  test('what is refused before it runs makes no key', async () => {
    await own.call(runPath, { json: { ...ask, input: '' } })
    expect((await state()).key).toBe(null)
  })

  test('many first messages at once leave one that works', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => askByStream(own, ask)))
    expect(all.map(saidIn)).toEqual(Array(8).fill('one two'))
    const { key } = await state()
    const mine = await w.deps.keys.list(account, start)
    const usable = mine.filter((one) => one.key.revokedAt === null)
    expect(usable.map((one) => one.key.id)).toEqual([key.id])
  })

  test('one that expired is made again as it was, without a word', async () => {
    await askByStream(own, ask)
    const before = (await state()).key
    await changeKey(w.deps, {
      keyId: before.id,
      actor: account,
      change: {
        ...{ capLimit: 2n * usd, models: ['counterfoil/*'], rpm: 60, expiresAt: start + 1000 },
        ...{ brakeMinute: usd, brakeHour: 2n * usd, brakeRunning: 'stop' },
      },
    })
    w.advance(2000)
    expect(saidIn(await askByStream(own, ask))).toBe('one two')
    const { key } = await state()
    expect(key.id).not.toBe(before.id)
    expect(key).toMatchObject({
      name: 'Console',
      cap: { limit_nusd: 2_000_000_000, window: 'day' },
      models: ['counterfoil/*'],
      limits: { rpm: 60 },
      scopes: ['runs:write'],
    })
    const renewed = await w.deps.keys.find(key.id)
    expect(renewed).toMatchObject({ brakeMinute: usd, brakeHour: 2n * usd, brakeRunning: 'stop' })
    expect(Date.parse(key.expires_at)).toBe(start + 2000 + 90 * dayMs)
  })

  test('every column of a key is kept, or is known to be of one key alone', () => {
    const adapted = ['accountId', 'parentId', 'branch', 'name', 'capLimit', 'capWindow', 'scopes']
    const ofOne = [
      ...['id', 'lineage', 'fingerprint', 'childrenCount', 'createdAt', 'expiresAt', 'lastUsedAt'],
      ...['pausedAt', 'pausedReason', 'revokedAt', 'revokedBy', 'secretBy', 'leakAnsweredAt'],
      // Bound by a command of its own, which names the key.
      'passport',
    ]
    const columns = Object.keys(getTableColumns(w.db.tables.keys as never))
    expect([...keptColumns, ...adapted, ...ofOne].sort()).toEqual(columns.sort())
  })

  test('one that its owner revoked is made again only when they ask for it', async () => {
    await askByStream(own, ask)
    const { key } = await state()
    await revokeKey(w.deps, { keyId: key.id, actor: account })
    expect((await error(own.call(runPath, { json: ask }))).type).toBe('key_revoked')
    expect((await error(own.call(`${path}/cap`, { json: { cap: '2' } }))).type).toBe('conflict')
    const page = await postForm(own, w, runPath, ask)
    expect(page.status).toBe(403)
    const html = await page.text()
    expect(readable(html)).toContain('You revoked the console key.')
    expect(html).toContain('action="/api/portal/console/key"')

    const made = await postForm(own, w, `${path}/key`, {})
    expect([made.status, made.headers.get('location')]).toEqual([303, '/dashboard/console'])
    expect((await state()).key.id).not.toBe(key.id)
    expect(saidIn(await askByStream(own, ask))).toBe('one two')
  })

  test('asked for twice, the second one is the first', async () => {
    const one = await renewKey(w.deps, ownerOf(account))
    expect((await renewKey(w.deps, ownerOf(account))).key.id).toBe(one.key.id)
  })

  test('what its owner forbade it, the console cannot do', async () => {
    await askByStream(own, ask)
    const keyId = (await state()).key.id
    const change = (what: object) => changeKey(w.deps, { keyId, actor: account, change: what })
    const type = async () => (await error(own.call(runPath, { json: ask }))).type
    await change({ models: ['other/*'] })
    expect(await type()).toBe('model_not_allowed')
    await change({ models: [], ipCidrs: ['10.0.0.0/8'] })
    expect(await type()).toBe('ip_not_allowed')
    await change({ ipCidrs: [], scopes: ['runs:read'] })
    expect(await type()).toBe('scope_denied')
    await change({ scopes: ['runs:write'], rpm: 1 })
    await askByStream(own, ask)
    // A key may be remembered as it was for a moment: its limit holds from the next ask on, or soon.
    const limited = async () => (await own.call(runPath, { json: ask })).status === 429
    expect((await limited()) || (await limited())).toBe(true)
    await pauseKey(w.deps, { keyId, actor: account })
    expect(await type()).toBe('key_paused')
  })
})

describe('POST /api/portal/console/cap', () => {
  let w: World
  let own: Browser
  beforeEach(async () => {
    w = await world({ toml: pricedBuiltins })
    own = await signedIn(w)
  })
  afterEach(() => w?.stop())

  test('before the first use it makes the key with that cap', async () => {
    const answer = await own.call(`${path}/cap`, { json: { cap: '2.5' } })
    expect((await answer.json()).key.cap).toMatchObject({ limit_nusd: 2.5e9, window: 'day' })
  })

  test('a form goes back to the page, htmx gets the panel', async () => {
    const form = await postForm(own, w, `${path}/cap`, { cap: '$3' })
    expect([form.status, form.headers.get('location')]).toEqual([303, '/dashboard/console'])
    const headers = { 'hx-request': 'true' }
    const htmx = await own.call(`${path}/cap`, { json: { cap: '4' }, headers })
    expect(await htmx.text()).toStartWith('<section class="sec" id="console-key"')
  })

  test.each(['0', '-1', 'much', '', '0.0000000001', '99999999'])(
    '%j is no cap: 400',
    async (cap) => {
      const answer = await own.call(`${path}/cap`, { json: { cap } })
      expect([answer.status, (await answer.json()).error.param]).toEqual([400, 'cap'])
      const headers = { 'hx-request': 'true' }
      const htmx = await own.call(`${path}/cap`, { json: { cap }, headers })
      expect(htmx.status).toBe(400)
      expect(await htmx.text()).toContain('id="console-cap-error"')
      expect((await postForm(own, w, `${path}/cap`, { cap })).status).toBe(400)
    },
  )

  test('below what was spent: 409 with the smallest there can be', async () => {
    await askByStream(own, ask)
    const answer = await postForm(own, w, `${path}/cap`, { cap: '0.000000001' })
    expect(answer.status).toBe(409)
    expect(readable(await answer.text())).toContain('The cap must be at least')
  })
})

describe('without a cookie', () => {
  let w: World | undefined
  afterAll(() => w?.stop())

  test('every action is 401 session_required, the page leads to the sign-in', async () => {
    w = await world()
    const stranger = browser(w)
    const posts = ['run', 'cap', 'key'].map((name) => `${path}/${name}`)
    const answers = [
      await stranger.call(path),
      ...(await Promise.all(posts.map((one) => stranger.call(one, { json: {} })))),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expect((await answer.json()).error.type).toBe('session_required')
    }
    const page = await stranger.call('/dashboard/console')
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      '/signin?next=%2Fdashboard%2Fconsole',
    ])
  })
})

for (const engine of engines.slice(1)) {
  test(`a first message and another on ${engine}`, async () => {
    const w = await world({ engine, toml: pricedBuiltins })
    try {
      const own = await signedIn(w)
      const all = await Promise.all([askByStream(own, ask), askByStream(own, ask)])
      expect(all.map(saidIn)).toEqual(['one two', 'one two'])
    } finally {
      await w.stop()
    }
  }, 60_000)
}
