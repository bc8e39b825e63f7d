import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../../src/access/keys/change.ts'
import type { KeyRequest } from '../../../src/access/keys/issue.ts'
import { liveRuns } from '../../../src/runs/live-runs.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { allRuns, pricedBuiltins } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'

describe('what binds a key where it is used', () => {
  let w: World
  beforeAll(async () => {
    // The test is a proxy whose word is taken, so that it can call from anywhere.
    const toml = `trusted_proxies = ["127.0.0.1", "::1"]\n${pricedBuiltins}`
    w = await world({ toml })
    await w.key({ balance: 10n * usd })
  })
  afterAll(() => w.stop())

  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const run = (key: string, init: RequestInit = {}) => {
    const messages = [{ role: 'user', content: 'one two three' }]
    const json = { model: 'counterfoil/echo-1', messages, max_tokens: 10 }
    return w.call('/v1/chat/completions', { key, json, ...init })
  }
  const chainOf = async (above: Partial<KeyRequest>, own: Partial<KeyRequest> = {}) => {
    const parent = await w.key(above)
    return { parent, child: await w.key({ parentId: parent.key.id, ...own }) }
  }
  const expectRefused = async (asked: Promise<Response>, status: number, type: string) => {
    const before = (await allRuns(w)).length
    const answer = await asked
    const { error } = await answer.json()
    expect([answer.status, error.type]).toEqual([status, type])
    expect((await allRuns(w)).length).toBe(before)
    return error
  }

  describe('403 ip_not_allowed', () => {
    test('from an address outside of its networks, or of those of a key above', async () => {
      const { parent, child } = await chainOf({ ipCidrs: ['10.0.0.0/8', '2001:db8::/32'] })
      expect(child.key.ipCidrs).toEqual(parent.key.ipCidrs)
      const changed = { keyId: child.key.id, actor: 'test', change: { ipCidrs: ['10.1.0.0/16'] } }
      await changeKey(w.deps, changed)
      for (const [address, secret] of [
        ['192.0.2.1', parent.secret],
        ['192.0.2.1', child.secret],
        ['10.2.0.1', child.secret],
        ['2001:db8::1', child.secret],
      ] as const) {
        await expectRefused(run(secret, from(address)), 403, 'ip_not_allowed')
        const self = w.call('/v1/keys/self', { key: secret, ...from(address) })
        await expectRefused(self, 403, 'ip_not_allowed')
      }
      expect((await run(parent.secret, from('2001:db8::1'))).status).toBe(200)
      expect((await run(parent.secret, from('10.2.0.1'))).status).toBe(200)
      expect((await run(child.secret, from('10.1.2.3'))).status).toBe(200)
    })

    test('an address that only a stranger claims does not count', async () => {
      const strict = await world()
      try {
        const { secret: key } = await strict.key({ ipCidrs: ['10.0.0.0/8'] })
        const answer = await strict.call('/v1/keys/self', { key, ...from('10.0.0.1') })
        expect(answer.status).toBe(403)
      } finally {
        await strict.stop()
      }
    })

    test('on a receipt such a key is none: 404, as for everybody', async () => {
      const { secret: key } = await w.key({ ipCidrs: ['10.0.0.0/8'] })
      const answer = await run(key, from('10.0.0.1'))
      const path = `/v1/receipts/${(await answer.json()).receipt.id}`
      expect((await w.call(path, { key, ...from('10.0.0.1') })).status).toBe(200)
      expect((await w.call(path, { key, ...from('192.0.2.1') })).status).toBe(404)
    })
  })

  test('403 model_not_allowed for a model that it, or a key above, does not name', async () => {
    const { parent, child } = await chainOf({ models: ['counterfoil/*'] })
    expect((await run(child.secret)).status).toBe(200)
    await changeKey(w.deps, {
      keyId: parent.key.id,
      actor: 'test',
      change: { models: ['counterfoil/embed-1'] },
    })
    await expectRefused(run(child.secret), 403, 'model_not_allowed')
    const json = { model: 'counterfoil/embed-1', input: 'a' }
    expect((await w.call('/v1/embeddings', { key: child.secret, json })).status).toBe(200)
  })

  test('402 cap_exceeded for a run that may cost more than the most a run, before any hold', async () => {
    const { parent, child } = await chainOf({ maxCostPerRun: 1n })
    const error = await expectRefused(run(child.secret), 402, 'cap_exceeded')
    expect(error.metadata).toMatchObject({
      limited_by: 'max_cost_per_run',
      blocking_key_id: parent.key.id,
      available_nusd: 1,
      resets_at: null,
    })
  })

  describe('429', () => {
    test('rate_limited beyond the requests a minute of the key, or of one above', async () => {
      const { parent, child } = await chainOf({ rpm: 4 }, { rpm: 9 })
      const ask = (key: string) => w.call('/v1/keys/self', { key })
      const first = await ask(child.secret)
      expect(first.headers.get('x-ratelimit-limit-requests')).toBe('4')
      expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('3')
      // On every route, by every key.
      expect((await w.call('/v1/balance', { key: child.secret })).status).toBe(200)
      expect((await w.call('/v1/runs', { key: parent.secret })).status).toBe(200)
      expect((await ask(parent.secret)).status).toBe(200)
      const refused = await run(child.secret)
      expect((await refused.json()).error.type).toBe('rate_limited')
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
      expect((await ask((await w.key()).secret)).status).toBe(200)
    })

    test('says where the limit stands, and so does every other refusal of a keyed route', async () => {
      const { secret } = await w.key({ rpm: 3, capLimit: 1n })
      const names = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-requests`)
      const saidBy = ({ headers }: Response) => [
        headers.get('ratelimit-policy'),
        headers.get('ratelimit')?.replace(/t=\d+$/, 't='),
        ...names.slice(0, 2).map((name) => headers.get(name)),
      ]
      const answers = [
        await run(secret),
        await w.call('/v1/runs/run_none', { key: secret }),
        await w.call('/v1/chat/completions', { key: secret, method: 'POST', body: 'text' }),
        await run(secret),
      ]
      expect(answers.map(({ status }) => status)).toEqual([402, 404, 415, 429])
      for (const [i, answer] of answers.entries()) {
        const left = String(Math.max(0, 2 - i))
        expect(saidBy(answer)).toEqual(['"minute";q=3;w=60', `"minute";r=${left};t=`, '3', left])
        expect(answer.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/)
      }
      const waits = ['retry-after', 'retry-after-ms'].map((name) => answers[3]?.headers.get(name))
      expect(waits.map((wait) => Number(wait) > 0)).toEqual([true, true])
    })

    test('a limit is divided between the nodes of one database, rounded up', async () => {
      const { secret, key } = await w.key({ rpm: 5, concurrency: 3 })
      w.deps.settings.nodes = 2
      try {
        const asked = [await run(secret), await run(secret), await run(secret), await run(secret)]
        expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 429])
        const live = liveRuns({ admission: 100 })
        const plan = { limits: { concurrency: 9 } }
        const admit = () => live.admit({ account: key.accountId, chain: [key], plan }, 2)
        admit()
        admit()
        expect(admit).toThrow(expect.objectContaining({ type: 'concurrency_limited' }))
      } finally {
        w.deps.settings.nodes = 1
      }
    })

    test('for failures of one address is counted over all routes together', async () => {
      const strict = await world({ toml: '[limits]\nfailed_auth_per_minute = 3' })
      try {
        const { secret } = await strict.key()
        const statuses: number[] = []
        for (const path of [
          '/v1/balance',
          '/v1/runs',
          '/v1/keys',
          '/v1/keys/self',
          '/v1/receipts',
        ]) {
          statuses.push((await strict.call(path)).status)
        }
        expect(statuses).toEqual([401, 401, 401, 429, 429])
        expect((await strict.call('/v1/balance', { key: secret })).status).toBe(200)
      } finally {
        await strict.stop()
      }
    })

    test('concurrency_limited for more runs at once than the key, or one above, may have', () => {
      const live = liveRuns({ admission: 100 })
      const keys = { top: ['top', 3], one: ['one', 2], two: ['two', null] } as const
      const of = (name: 'one' | 'two') => ({
        account: 'account',
        chain: [keys[name], keys.top].map(([id, concurrency]) => ({ id, concurrency }) as KeyRow),
        plan: { limits: { concurrency: 9 } },
      })
      const limited = expect.objectContaining({ type: 'concurrency_limited' })
      live.admit(of('one'), 1)
      live.admit(of('one'), 1)
      expect(() => live.admit(of('one'), 1)).toThrow(limited)
      live.admit(of('two'), 1)
      expect(() => live.admit(of('two'), 1)).toThrow(limited)
      live.release('account', ['one', 'top'])
      live.admit(of('two'), 1)
      expect(live.count()).toBe(3)
    })

    test('a key of one run at once has the next one when that has ended', async () => {
      const { secret } = await w.key({ concurrency: 1 })
      for (let i = 0; i < 3; i++) expect((await run(secret)).status).toBe(200)
      await expectRefused(
        run((await w.key({ capLimit: 1n, concurrency: 1 })).secret),
        402,
        'cap_exceeded',
      )
    })
  })
})
