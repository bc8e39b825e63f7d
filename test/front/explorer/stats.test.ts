import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { toSeries } from '../../../src/front/explorer/stats.ts'
import { addReceipts, countAll } from '../../billing/usage/receipts.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { json, showRun } from './world.ts'

const hour = 3_600_000
const day = 24 * hour
const now = Date.UTC(2026, 10, 20, 12, 30)

describe.each(engines)('GET /v1/explorer/stats on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now })
  }, 60_000)
  afterAll(() => w.stop())
  const stats = (window: string) => json(w, `/v1/explorer/stats?window=${window}`)

  test('200 with nothing to show of an empty log', async () => {
    const found = await stats('all')
    expect(found).toEqual({
      object: 'explorer.stats',
      window: 'all',
      from: null,
      receipts: 0,
      anchored_share_bps: null,
      runs: 0,
      success_rate_bps: null,
      volume_usd: '0.00',
      median_first_token_ms: null,
      series_by: 'day',
      series: [],
      top_models: [],
    })
  })

  test('200: counts are of all receipts, money, speed and models of public ones', async () => {
    const at = (ago: number, more = {}) => ({
      accountId: '0xa',
      keyId: 'key_1',
      finishedAt: now - ago,
      startedAt: now - ago - 1000,
      firstByteAt: now - ago - 1000 + 420,
      ...more,
    })
    const made = await addReceipts(w, [
      ...Array.from({ length: 6 }, () => at(10_000)),
      at(2 * hour, { model: 'acme/rare' }),
      at(30 * hour),
      at(3 * day, { status: 'failed' }),
      at(20 * day),
      at(200 * day),
    ])
    await countAll(w)
    for (const run of made.slice(0, 7)) await showRun(w, run, {})
    w.advance(10_000)
    const found = await stats('24h')
    expect(found).toMatchObject({
      from: '2026-11-19T13:00:00.000Z',
      receipts: 11,
      anchored_share_bps: 0,
      runs: 7,
      success_rate_bps: 10_000,
      median_first_token_ms: 450,
      series_by: 'hour',
    })
    const cost = made[0]?.cost ?? 0n
    expect(found.volume_usd).toBe((Number(cost * 7n) / 1e9).toString())
    // One run of a model is no one's crowd: it is named, its volume is not.
    expect(found.top_models).toEqual([
      { model: 'acme/small', runs: 6, volume_usd: (Number(cost * 6n) / 1e9).toString() },
      { model: 'acme/rare', runs: 1, volume_usd: null },
    ])
    expect(found.series).toHaveLength(24)
    expect(found.series.at(-1)).toEqual({ at: '2026-11-20T12:00:00.000Z', runs: 6, succeeded: 6 })
    expect(found.series.at(-3)).toEqual({ at: '2026-11-20T10:00:00.000Z', runs: 1, succeeded: 1 })
  })

  test('200: a window of 7 days by hour, of 30 by day, all by month when it is long', async () => {
    const week = await stats('7d')
    expect([week.series_by, week.series.length, week.runs]).toEqual(['hour', 6 * 24 + 13, 9])
    expect(week.success_rate_bps).toBe(8888)
    const month = await stats('30d')
    expect([month.series_by, month.series.length, month.runs]).toEqual(['day', 30, 10])
    const all = await stats('all')
    expect([all.series_by, all.series.length, all.runs]).toEqual(['day', 201, 11])
    expect(all.from).toBe('2026-05-04T00:00:00.000Z')
  })

  promise`I6`
  test('200: no median of less than five first tokens', async () => {
    const [a, b] = await addReceipts(w, [
      { accountId: '0xa', keyId: 'key_1', finishedAt: now - 400 * day },
      { accountId: '0xa', keyId: 'key_1', finishedAt: now + 40 * day },
    ])
    if (!a || !b) throw new Error('no runs')
    await showRun(w, b, {})
    w.advance(40 * day)
    const found = await stats('24h')
    expect([found.median_first_token_ms, found.volume_usd]).not.toEqual([null, '0.00'])
    expect(found.median_first_token_ms).toBeNull()
  })

  test('what was read is given again for 10 s, and may be kept as long', async () => {
    await stats('30d')
    const [run] = await addReceipts(w, [{ accountId: '0xa', keyId: 'key_1', finishedAt: now }])
    if (!run) throw new Error('no run')
    const before = await stats('30d')
    await countAll(w)
    expect(await stats('30d')).toEqual(before)
    w.advance(10_000)
    expect(await stats('30d')).not.toEqual(before)
    const answer = await w.call('/v1/explorer/stats?window=30d')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=10')
    const etag = answer.headers.get('etag') ?? ''
    const again = await w.call('/v1/explorer/stats?window=30d', {
      headers: { 'if-none-match': etag },
    })
    expect(again.status).toBe(304)
  })

  test('any origin may read it, and no key changes it', async () => {
    for (const authorization of ['', 'Bearer nonsense', 'Basic eDp5']) {
      const answer = await w.call('/v1/explorer/stats', { headers: { authorization } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    }
    expect(await stats('24h')).toEqual(await json(w, '/v1/explorer/stats'))
  })

  test('400 for a window there is not', async () => {
    const answer = await w.call('/v1/explorer/stats?window=1y')
    expect(answer.status).toBe(400)
    expect((await answer.json()).error).toMatchObject({ type: 'invalid_request', param: 'window' })
  })
})

describe('a series', () => {
  test('has a month for each month there is', () => {
    const start = Date.UTC(2025, 10, 30)
    const count = { grain: 'day' as const, at: start, receipts: 3, succeeded: 2 }
    const series = toSeries([count], { start, now: Date.UTC(2026, 1, 1), by: 'month' })
    expect(series).toEqual([
      { at: Date.UTC(2025, 10, 1), runs: 3, succeeded: 2 },
      { at: Date.UTC(2025, 11, 1), runs: 0, succeeded: 0 },
      { at: Date.UTC(2026, 0, 1), runs: 0, succeeded: 0 },
      { at: Date.UTC(2026, 1, 1), runs: 0, succeeded: 0 },
    ])
  })
})
