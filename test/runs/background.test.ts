import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pacedModels, startPacedUpstream } from '../support/paced-upstream.ts'
import { until } from '../support/runs.ts'
import type { StubUpstream } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

setDefaultTimeout(60_000)

describe.each(engines)('a run in the background, on %s', (engine) => {
  let w: World
  let upstream: StubUpstream
  let key: string
  beforeAll(async () => {
    upstream = await startPacedUpstream()
    w = await world({ engine, toml: pacedModels(upstream.url) })
    key = (await w.key({ balance: 100n * usd })).secret
    // No two looks at it are the same moment.
    let time = Date.UTC(2026, 0, 15, 12)
    w.deps.clock.now = () => ++time
  })
  afterAll(async () => {
    await w?.stop()
    await upstream?.stop()
  })

  const read = async (path: string) => (await w.call(path, { key })).json()

  test('started at one moment, in its row while it runs and after it, and on its receipt', async () => {
    const json = { model: 'stub/endless', input: 'go on', background: true }
    const { id } = await (await w.call('/v1/runs', { key, json })).json()
    const running = await until('the run to start', async () => {
      const run = await read(`/v1/runs/${id}`)
      return run.status === 'running' && run
    })
    await until('its first word', () => upstream.counts.active > 0)
    await w.call(`/v1/runs/${id}/cancel`, { key, method: 'POST' })
    const ended = await until('its end', async () => {
      const run = await read(`/v1/runs/${id}`)
      return run.finished_at !== null && run
    })
    expect(ended.started_at).toBe(running.started_at)
    const { receipt } = await read(`/v1/receipts/${ended.receipt_id}`)
    expect(Number(receipt.run.startedAt)).toBe(Date.parse(running.started_at))
  })
})
