import { describe, expect, test } from 'bun:test'
import { lookAtPatience } from '../../src/cli/doctor-patience.ts'
import { firstByteMsOf } from '../../src/models/patience.ts'
import { modelToml, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { configOf, usd, world } from '../support/world.ts'

const url = 'http://127.0.0.1:9/v1'
const plain = modelToml('a/plain', '"far:plain"')
const thinker = modelToml('a/thinker', '"other:x", "far:thinker"', 'features = ["reasoning"]')
const rated = modelToml('a/rated', '"far:rated"', 'reasoning_pusd = 1')
const others = upstreamToml('other', url)

describe('how long a server may think before its first byte', () => {
  test.each([
    ['a model that does not reason', plain, 60_000],
    ['a model with the feature', plain + thinker, 300_000],
    ['a model with a rate for it', rated, 300_000],
  ])('goes by its models: %s', (_, models, ms) => {
    const config = configOf(others + upstreamToml('far', url) + models)
    expect(firstByteMsOf('far', config.models)).toBe(ms)
    expect(lookAtPatience(config)).toEqual([])
  })

  test('doctor warns where it is set shorter than such a model takes', () => {
    const set = (ms: number) => upstreamToml('far', url, `timeout_first_byte_ms = ${ms}`)
    const [found, ...more] = lookAtPatience(configOf(others + set(60_000) + thinker))
    expect([found?.status, more]).toEqual(['warn', []])
    expect(found?.message).toContain('far has 60,000 ms')
    expect(found?.message).toContain('a/thinker reasons')
    expect(found?.fix).toContain('timeout_first_byte_ms of far')
    expect(lookAtPatience(configOf(others + set(300_000) + thinker))).toEqual([])
    expect(lookAtPatience(configOf(others + set(60_000) + plain))).toEqual([])
  })

  test('what is set is what a server has', async () => {
    const stub = await startStubUpstream()
    const far = upstreamToml('far', stub.url, 'breaker_failures = 0\ntimeout_first_byte_ms = 80')
    const w = await world({
      toml: far + modelToml('a/thinker', '"far:stall"', 'features = ["reasoning"]'),
    })
    const { secret } = await w.key({ balance: usd })
    const messages = [{ role: 'user', content: 'Hi' }]
    const json = { model: 'a/thinker', messages }
    const answer = await w.call('/v1/chat/completions', { key: secret, json })
    expect(answer.status).toBe(504)
    await w.stop()
    await stub.stop()
  })
})
