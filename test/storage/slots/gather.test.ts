import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { gatherer } from '../../../src/app/gather/api/gather.ts'
import { mergeStats } from '../../../src/app/gather/api/merge.ts'
import type { StatsAnswer } from '../../../src/front/explorer/shapes.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { receiptCounter } from '../../../src/storage/counts/count.ts'
import { freePort } from '../../support/free-port.ts'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import { usd } from '../../support/world.ts'
import { mapFile, misrouted, ofS3, ofS4, type ShardWorld, shardWorld } from './shards.ts'

setDefaultTimeout(60_000)

const statsOf = (change: Partial<StatsAnswer> = {}): StatsAnswer => ({
  object: 'explorer.stats',
  window: '24h',
  from: '2026-11-22T10:00:00.000Z',
  receipts: 3,
  anchored_share_bps: 10_000,
  runs: 3,
  success_rate_bps: 6666,
  volume_usd: '1.50',
  median_first_token_ms: 120,
  series_by: 'hour',
  series: [{ at: '2026-11-22T10:00:00.000Z', runs: 3, succeeded: 2 }],
  top_models: [{ model: 'a/a', runs: 3, volume_usd: null }],
  ...change,
})
const merged = (...all: StatsAnswer[]) =>
  mergeStats(all.map((answer, i) => ({ shard: `s${i}`, answer })))

describe('figures of several shards', () => {
  test('are sums, also of money beyond what a balance holds', () => {
    const other = statsOf({
      ...{ receipts: 1, anchored_share_bps: 0, runs: 1, volume_usd: '9000000000.000000001' },
      series: [{ at: '2026-11-22T11:00:00.000Z', runs: 1, succeeded: 1 }],
      top_models: [{ model: 'b/b', runs: 7, volume_usd: '2.00' }],
    })
    expect(merged(statsOf(), other)).toEqual({
      ...statsOf(),
      ...{ receipts: 4, runs: 4, anchored_share_bps: 7500, success_rate_bps: 7500 },
      volume_usd: '9000000001.500000001',
      median_first_token_ms: null,
      series: [
        { at: '2026-11-22T10:00:00.000Z', runs: 3, succeeded: 2 },
        { at: '2026-11-22T11:00:00.000Z', runs: 1, succeeded: 1 },
      ],
      top_models: [
        { model: 'b/b', runs: 7, volume_usd: '2.00' },
        { model: 'a/a', runs: 3, volume_usd: null },
      ],
    })
  })

  test('have the longest points of any shard, and hide a cost that one of them hides', () => {
    const months = statsOf({
      series_by: 'month',
      series: [{ at: '2026-11-01T00:00:00.000Z', runs: 5, succeeded: 5 }],
      top_models: [{ model: 'a/a', runs: 9, volume_usd: '2.00' }],
    })
    const { series_by, series, top_models } = merged(statsOf({ series_by: 'day' }), months)
    expect([series_by, series]).toEqual([
      'month',
      [{ at: '2026-11-01T00:00:00.000Z', runs: 8, succeeded: 7 }],
    ])
    expect(top_models).toEqual([{ model: 'a/a', runs: 12, volume_usd: null }])
  })
})

describe('two shards that are gathered', () => {
  let s3: ShardWorld
  let s4: ShardWorld
  let isDown = false
  let asked: string[] = []
  let time = 0
  const chat = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] }

  beforeAll(async () => {
    s3 = await shardWorld('s3')
    s4 = await shardWorld('s4')
    const runs: [ShardWorld, string, number][] = [
      [s3, ofS3, 2],
      [s4, ofS4, 3],
    ]
    for (const [w, account, count] of runs) {
      const { secret } = await w.key({ account, balance: usd })
      for (let i = 0; i < count; i++) {
        await w.call('/v1/chat/completions', { key: secret, json: chat })
      }
      await w.deps.sequencer.flush()
      await receiptCounter(w.deps)()
    }
  })
  afterAll(async () => {
    await s3.stop()
    await s4.stop()
  })
  const handle = () =>
    gatherer({
      shards: ['s3', 's4'].map((id) => ({ id, url: id })),
      read: async ({ id }, path) => {
        asked.push(`${id} ${path}`)
        if (isDown && id === 's4') throw new Error('down')
        return (await (id === 's3' ? s3 : s4).call(path)).json()
      },
      clock: { monotonic: () => time },
      ids: makeIds(systemClock, systemRandom()),
    })
  const ask = async (path: string, on = handle()) => {
    const answer = await on(new Request(`http://gather${path}`))
    return { status: answer.status, body: (await answer.json()) as Record<string, never> }
  }

  promise`Q2`
  test('say their shard themselves, and refuse a request that names another one', async () => {
    for (const path of ['/v1/status', '/v1/explorer/stats', '/v1/explorer/recent']) {
      expect(await (await s4.call(path)).json()).toMatchObject({ shard: 's4' })
      const headers = { 'x-counterfoil-shard': 's3' }
      expect(await misrouted(await s4.call(path, { headers }))).toEqual([
        ...[421, 'misdirected_request', 's3'],
      ])
      expect((await s3.call(path, { headers })).status).toBe(200)
    }
  })

  test('are summed up, listed together and judged together', async () => {
    const stats = await ask('/v1/explorer/stats?window=all')
    expect(stats.body).toMatchObject({ runs: 5, receipts: 5, shards: ['s3', 's4'], missing: [] })
    const recent = await ask('/v1/explorer/recent?limit=4')
    const data = recent.body['data'] as unknown as { shard: string }[]
    expect([data.length, recent.body['has_more']]).toEqual([4, true] as never)
    expect(new Set(data.map(({ shard }) => shard))).toEqual(new Set(['s3', 's4']))
    const status = await ask('/v1/status')
    expect(status.body['shards']).toMatchObject([{ id: 's3' }, { id: 's4' }])
  })

  test('are given without one that is down, which is named; none of them is a 503', async () => {
    isDown = true
    const { status, body } = await ask('/v1/explorer/stats?window=all')
    expect([status, body]).toMatchObject([200, { runs: 2, shards: ['s3'], missing: ['s4'] }])
    expect((await ask('/v1/status')).body).toMatchObject({ status: 'degraded', missing: ['s4'] })
    isDown = false
    const none = gatherer({
      ...{ shards: [{ id: 's4', url: 's4' }], clock: { monotonic: () => 0 } },
      read: async () => (await s3.call('/v1/explorer/stats')).json(),
      ids: makeIds(systemClock, systemRandom()),
    })
    // The wrong shard at a URL is not counted as another one.
    expect((await ask('/v1/explorer/stats', none)).status).toBe(503)
  })

  test('are asked once for many readers, and refuse what is not gathered', async () => {
    const on = handle()
    asked = []
    await Promise.all(Array.from({ length: 50 }, () => ask('/v1/explorer/stats', on)))
    expect(asked).toHaveLength(2)
    time = 2000
    await ask('/v1/explorer/stats', on)
    expect(asked).toHaveLength(4)
    expect((await ask('/v1/explorer/stats?window=1h', on)).status).toBe(400)
    expect((await ask('/v1/explorer/recent?after=3', on)).status).toBe(400)
    expect((await ask('/v1/keys/self', on)).status).toBe(404)
    expect((await ask('/livez', on)).status).toBe(200)
  })

  test('are served and audited by commands, over the URLs in the file', async () => {
    const rows = [s3, s4].map(({ origin }, i) => {
      const slots = ['0-511', '512-1023'][i]
      return `[s${i + 3}]\nslots = "${slots}"\nurl = "${origin}"\n`
    })
    const file = mapFile(rows.join(''))
    const run = (...args: string[]) =>
      Bun.spawn([process.execPath, 'src/main.ts', ...args], { stdout: 'pipe', stderr: 'pipe' })
    const audit = run('audit', '--shards', file)
    const report = await new Response(audit.stdout).text()
    expect(await audit.exited).toBe(0)
    expect(report.match(/Every check passed/g)).toHaveLength(2)
    expect(report).toContain('https://gw.example#s4')
    const port = freePort()
    const serving = run('gather', '--shards', file, '--listen', `127.0.0.1:${port}`)
    const url = `http://127.0.0.1:${port}/v1/explorer/stats?window=all`
    const found = await until('it to serve', async () => {
      const answer = await fetch(url).catch(() => undefined)
      return answer?.ok ? ((await answer.json()) as object) : undefined
    })
    expect(found).toMatchObject({ runs: 5, shards: ['s3', 's4'] })
    serving.kill()
    expect(await serving.exited).toBe(0)
    // Two shards whose URLs are swapped are found out.
    writeFileSync(file, rows.join('').replace('[s3]', '[s9]').replace('[s4]', '[s3]'))
    const wrong = run('audit', '--shards', file)
    expect(await wrong.exited).toBe(1)
    expect(await new Response(wrong.stderr).text()).toContain(
      'not of the shard s9: correct its url',
    )
  })
})
