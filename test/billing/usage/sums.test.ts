import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshMax } from '../../../src/billing/usage/sum.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { addReceipts, classLines, countAll, linesOf } from './receipts.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 21, 12)
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

type Row = Record<string, unknown>
type Body = { data: Row[]; totals: Row; as_of: number; uncounted: number; from: string; to: string }

describe.each(engines)('GET /v1/usage on %s', (engine) => {
  let w: World
  let root: { id: string; secret: string }
  let child: { id: string; secret: string }
  const usage = async (query: string, key = root.secret): Promise<Body> => {
    const answer = await w.call(`/v1/usage${query}`, { key })
    expect(answer.status).toBe(200)
    return await answer.json()
  }

  beforeAll(async () => {
    w = await world({ engine, now, toml: pricedBuiltins })
    const make = async (...wish: Parameters<World['key']>) => {
      const { key, secret } = await w.key(...wish)
      return { id: key.id, secret }
    }
    root = await make({ balance: 10n * usd, name: 'root' })
    child = await make({ parentId: root.id, name: 'child' })
    const sibling = await make({ name: 'sibling' })
    const stranger = await make({ account: other, balance: usd })
    const mine = { accountId: testAccount, keyId: root.id }
    await addReceipts(w, [
      // 12 × 150 + 345 × 600 nano-USD = 208,800
      { ...mine, finishedAt: now - 3 * day },
      { ...mine, finishedAt: now - 2 * day, tags: { team: 'red', job: 'x' } },
      { ...mine, finishedAt: now - 2 * day + 1, status: 'failed', outcome: 'failed', lines: [] },
      { ...mine, keyId: child.id, finishedAt: now - day, model: 'acme/big', tags: { team: 'red' } },
      { ...mine, keyId: child.id, finishedAt: now - day, lines: linesOf(1, 0), discountBps: 500 },
      { ...mine, keyId: sibling.id, finishedAt: now - day },
      { accountId: other, keyId: stranger.id, finishedAt: now - day },
    ])
    await countAll(w)
  }, 60_000)
  afterAll(() => w.stop())

  describe('200', () => {
    test('sums up the key and the keys below it by day, and no one else', async () => {
      expect(await usage('')).toEqual({
        object: 'usage',
        from: '2026-10-23T00:00:00.000Z',
        to: '2026-11-22T00:00:00.000Z',
        group_by: ['day'],
        data: [
          { day: '2026-11-18', ...sums(1, 1, 12, 345, 208_800) },
          { day: '2026-11-19', ...sums(2, 1, 12, 345, 208_800) },
          { day: '2026-11-20', ...sums(2, 2, 13, 345, 208_943) },
        ],
        totals: sums(5, 4, 37, 1035, 626_543),
        // Seven receipts and the prices that they name.
        as_of: 8,
        uncounted: 0,
      } as unknown as Body)
      expect((await usage('?group_by=key', child.secret)).data).toEqual([
        { key_id: child.id, ...sums(2, 2, 13, 345, 208_943) },
      ])
    })

    test('groups by key, model and day together', async () => {
      const { data } = await usage('?group_by=model,key,day&from=2026-11-20')
      expect(data.map((row) => [row['day'], row['key_id'], row['model'], row['runs']])).toEqual([
        ['2026-11-20', child.id, 'acme/big', 1],
        ['2026-11-20', child.id, 'acme/small', 1],
      ])
    })

    test('groups by tag: a run with two tags in both groups, without any in null', async () => {
      const { data, totals } = await usage('?group_by=tag')
      expect(data).toEqual([
        { tag: null, ...sums(3, 2, 13, 345, 208_943) },
        { tag: { name: 'job', value: 'x' }, ...sums(1, 1, 12, 345, 208_800) },
        { tag: { name: 'team', value: 'red' }, ...sums(2, 2, 24, 690, 417_600) },
      ])
      expect(totals).toEqual(sums(5, 4, 37, 1035, 626_543))
    })

    test('counts parts of days by the receipts of that time', async () => {
      const edge = new Date(now - 2 * day + 1).toISOString()
      expect((await usage(`?from=${edge}&group_by=key`)).totals['runs']).toBe(3)
      expect((await usage(`?to=${edge}`)).totals['runs']).toBe(2)
      const within = `?from=${new Date(now - 2 * day).toISOString()}&to=${edge}`
      expect((await usage(within)).totals['runs']).toBe(1)
    })

    test('takes a date as its whole day, and an offset', async () => {
      expect((await usage('?from=2026-11-20&to=2026-11-20')).totals['runs']).toBe(2)
      expect((await usage('?from=2026-11-20T13:00:00%2B01:00')).totals['runs']).toBe(2)
      expect((await usage('?from=2026-11-20T12:30:00%2B00:00')).totals['runs']).toBe(0)
    })

    test('shows a run right after it ended, before it is counted', async () => {
      const before = await usage('?from=2026-11-21&group_by=model')
      expect(before.data).toEqual([])
      const body = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'a b c' }] }
      const answer = await w.call('/v1/chat/completions', { key: child.secret, json: body })
      const cost = Number(answer.headers.get('x-cost-nusd'))
      const { usage: used } = (await answer.json()) as { usage: Record<string, number> }
      const expected = sums(1, 1, used['prompt_tokens'] ?? 0, used['completion_tokens'] ?? 0, cost)
      for (const group of ['model', 'tag']) {
        expect((await usage(`?from=2026-11-21&group_by=${group}`)).totals).toEqual(expected)
      }
      await w.deps.sequencer.flush()
      await countAll(w)
      const after = await usage('?from=2026-11-21&group_by=model')
      expect(after.data).toEqual([{ model: 'counterfoil/echo-1', ...expected }])
    })

    test('says how far it goes when the count lags far behind', async () => {
      const late = { accountId: testAccount, keyId: root.id, finishedAt: now }
      const from = await w.deps.usage.size()
      await addReceipts(
        w,
        Array.from({ length: freshMax + 7 }, () => late),
      )
      const lagging = await usage('?from=2026-11-21')
      expect(lagging).toMatchObject({ as_of: from + freshMax, uncounted: 7 })
      await countAll(w)
      const { uncounted, totals } = await usage('?from=2026-11-21')
      expect([uncounted, totals['runs']]).toEqual([0, freshMax + 8])
    }, 60_000)
  })

  describe('400 invalid_request', () => {
    const wrong: [query: string, param: string][] = [
      ['?from=yesterday', 'from'],
      ['?from=2026-02-30', 'from'],
      ['?from=2026-11-21T00:00:00', 'from'],
      ['?from=2026-11-21T24:00:00Z', 'from'],
      ['?from=2026-11-21T00:00:00+01:00', 'from'],
      ['?from=1763683200', 'from'],
      ['?from=', 'from'],
      ['?to=2026-13-01', 'to'],
      ['?from=2026-11-21&to=2026-11-20', 'to'],
      ['?from=2026-11-21T01:00:00Z&to=2026-11-21T01:00:00Z', 'to'],
      ['?from=2024-01-01', 'from'],
      ['?from=2026-11-01&from=2026-11-02', 'from'],
      ['?group_by=', 'group_by'],
      ['?group_by=day,day', 'group_by'],
      ['?group_by=day,', 'group_by'],
      ['?group_by=hour', 'group_by'],
    ]
    test.each(wrong)('The usage refuses the query %s.', async (query, param) => {
      const answer = await w.call(`/v1/usage${query}`, { key: root.secret })
      expect(answer.status).toBe(400)
      expect((await answer.json()).error).toMatchObject({ type: 'invalid_request', param })
    })
  })

  test('401 without a key, 403 without the scope', async () => {
    const { secret } = await w.key({ scopes: ['runs:write'] })
    for (const path of ['/v1/usage', '/v1/usage/export']) {
      expect((await w.call(path)).status).toBe(401)
      const denied = await w.call(path, { key: secret })
      expect([denied.status, (await denied.json()).error.type]).toEqual([403, 'scope_denied'])
      const posted = await w.call(path, { key: secret, json: {} })
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })

  promise`O2 H: Every surface that adds up tokens counts all classes of a side.`
  test('counts every class on its side, counted by day and just now', async () => {
    const { key, secret } = await w.key({ account: other, balance: usd })
    const mine = { accountId: other, keyId: key.id, lines: classLines }
    const units = {
      ...{ input_units: 2000, output_units: 300 },
      ...{ cached_units: 1500, cache_write_units: 240, reasoning_units: 100 },
    }
    const twice = Object.fromEntries(
      Object.entries(units).map(([name, count]) => [name, count * 2]),
    )
    await addReceipts(w, [{ ...mine, finishedAt: now - day }])
    expect((await usage('', secret)).totals).toMatchObject(units)
    await countAll(w)
    expect((await usage('', secret)).totals).toMatchObject(units)
    await addReceipts(w, [{ ...mine, finishedAt: now - day + 1 }])
    await countAll(w)
    expect((await usage('?group_by=model', secret)).data).toEqual([
      expect.objectContaining({ model: 'acme/small', ...twice }),
    ])
  })
})

const sums = (
  runs: number,
  succeeded: number,
  input_units: number,
  output_units: number,
  cost_nusd: number,
) => ({
  ...{ runs, succeeded, input_units, output_units },
  ...{ cached_units: 0, cache_write_units: 0, reasoning_units: 0, cost_nusd },
})
