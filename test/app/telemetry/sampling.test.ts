import { describe, expect, test } from 'bun:test'
import { upstreamToml } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { world } from '../../support/world.ts'
import { startCollector } from './collector.ts'
import { tracing } from './tracing.ts'

const messages = [{ role: 'user', content: 'hi' }]

describe('what the caller leaves to the service', () => {
  test('is sampled by its share: none of the runs at 0, some at one half', async () => {
    const upstream = await startStubUpstream()
    const collector = await startCollector()
    const json = { model: 'far/chat', messages, max_tokens: 50 }
    const counted: number[] = []
    for (const sample of ['0', '0.5']) {
      const t = await tracing(collector.url, upstream, `sample = ${sample}`)
      for (let i = 0; i < 64; i++) await t.ask('/v1/chat/completions', json)
      await t.stop()
      counted.push(collector.spans.filter(({ kind }) => kind === 2).length)
    }
    expect(counted[0]).toBe(0)
    // Fewer than 8 or more than 56 of 64 come once in 10^10 times.
    expect(counted[1]).toBeGreaterThan(8)
    expect(counted[1]).toBeLessThan(56)
    await collector.stop()
    await upstream.stop()
  })

  test('records nothing without a collector: there is nothing that could', async () => {
    const upstream = await startStubUpstream()
    const w = await world({ toml: upstreamToml('chat', upstream.url) })
    expect(w.deps.telemetry).toBeUndefined()
    await w.stop()
    await upstream.stop()
  })
})
