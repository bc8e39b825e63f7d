import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { upstreamHealth } from '../../src/front/admin/upstreams.ts'
import { fault, promise } from '../support/promise.ts'
import {
  allRuns,
  expectSettled,
  modelsToml,
  modelToml,
  moneyOf,
  until,
  upstreamToml,
} from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const rules = 'breaker_failures = 3\nbreaker_cooldown_ms = 30_000\ntimeout_first_byte_ms = 20_000'
const hasty = `${rules}\ntimeout_idle_ms = 50`.replace('20_000', '50')
const names = ['normal', 'stall', 'slow', 'cut-1', 'text']
const statuses = ['status-500', 'status-503', 'status-429', 'status-400', 'status-401']

let now = 0
let stub: StubUpstream
let gone: StubUpstream
let w: World
let secret: string

beforeEach(async () => {
  now = 1_000_000
  stub = await startStubUpstream()
  gone = await startStubUpstream()
  const toml = [
    modelsToml(stub.url, [...names, ...statuses], rules),
    upstreamToml('hasty', stub.url, hasty),
    upstreamToml('gone', gone.url, rules),
    upstreamToml('never', stub.url, 'breaker_failures = 0'),
    ...['stall', 'stall-1', 'normal'].map((name) => modelToml(`hasty/${name}`, `"hasty:${name}"`)),
    modelToml('gone/normal', '"gone:normal"'),
    modelToml('never/status-500', '"never:status-500"'),
    modelToml('never/normal', '"never:normal"'),
    modelToml('two/normal', '"gone:normal", "stub:normal"'),
  ].join('')
  await gone.stop()
  w = await world({ toml, monotonic: () => now })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const chat = (model: string, more: object = {}, signal?: AbortSignal) => {
  const json = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, ...more }
  return w.call('/v1/chat/completions', { key: secret, json, ...(signal ? { signal } : {}) })
}
/** The status of an answer that was read to its end. */
const ask = async (model: string, more: object = {}): Promise<number> => {
  const answer = await chat(model, more)
  await answer.text()
  return answer.status
}
const times = async (count: number, work: () => Promise<unknown>): Promise<unknown[]> => {
  const found: unknown[] = []
  for (let i = 0; i < count; i++) found.push(await work())
  return found
}
const stateOf = (id: string) => upstreamHealth(w.deps).find((one) => one.id === id)?.breaker
const events = (name: string) => w.logged.filter(({ event }) => event === `upstream.${name}`)

promise`E7`
fault`24`
describe('three failures in a row', () => {
  const cases: [what: string, upstream: string, model: string, more: object][] = [
    ['5xx', 'stub', 'stub/status-500', {}],
    ['503 of its own', 'stub', 'stub/status-503', {}],
    ['nobody listening', 'gone', 'gone/normal', {}],
    ['no first byte in time', 'hasty', 'hasty/stall', {}],
    ['no answer that can be read', 'stub', 'stub/text', {}],
    ['a stream that breaks off', 'stub', 'stub/cut-1', { stream: true }],
    ['a stream that falls silent', 'hasty', 'hasty/stall-1', { stream: true }],
  ]
  test.each(cases)('%s: %s is not asked again for now', async (_, upstream, model, more) => {
    await times(2, () => ask(model, more))
    expect(stateOf(upstream)).toBe('closed')
    await ask(model, more)
    expect(stateOf(upstream)).toBe('open')
    expect(events('opened')).toHaveLength(1)
    const asked = stub.counts.requests
    expect(await ask(model, more)).toBe(503)
    expect(stub.counts.requests).toBe(asked)
  })

  const innocent: typeof cases = [
    ['429', 'stub', 'stub/status-429', {}],
    ['400', 'stub', 'stub/status-400', {}],
    ['a key that it does not take', 'stub', 'stub/status-401', {}],
    ['never opened by configuration', 'never', 'never/status-500', {}],
  ]
  test.each(innocent)('are none: %s', async (_, upstream, model, more) => {
    await times(5, () => ask(model, more))
    expect(stateOf(upstream)).toBe(upstream === 'never' ? undefined : 'closed')
    expect(await ask(`${upstream}/normal`)).toBe(200)
  })

  test('are none: clients that hang up before and inside of an answer', async () => {
    for (const [model, stream] of [
      ['stub/stall', false],
      ['stub/stall', true],
      ['stub/slow', true],
      ['stub/slow', true],
    ] as const) {
      const before = stub.counts.requests
      const client = new AbortController()
      const asking = chat(model, { stream }, client.signal).then((answer) => answer.text())
      await until('the upstream to be asked', () => stub.counts.requests > before)
      client.abort()
      await asking.catch(() => undefined)
      await until('the run to end', () => w.deps.live.count() === 0)
    }
    expect(stateOf('stub')).toBe('closed')
    expect(await ask('stub/normal')).toBe(200)
  })

  test('are not in a row when an answer came between them', async () => {
    await times(2, () => ask('stub/status-500'))
    expect(await ask('stub/normal', { stream: true })).toBe(200)
    await times(2, () => ask('stub/status-500'))
    expect(stateOf('stub')).toBe('closed')
  })
})

promise`E7`
describe('while it is open', () => {
  beforeEach(() => times(3, () => ask('stub/status-500')))

  test('runs are refused with 503 and Retry-After; none is begun, held or charged', async () => {
    now += 12_500
    const money = await moneyOf(w, secret)
    const runs = await allRuns(w)
    for (const more of [{}, { stream: true }]) {
      const answer = await chat('stub/normal', more)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '18'])
      expect(answer.headers.get('retry-after-ms')).toBe('17500')
      expect((await answer.json()).error.type).toBe('unavailable')
    }
    const json = { model: 'stub/normal', input: 'hi', background: true }
    expect((await w.call('/v1/runs', { key: secret, json })).status).toBe(503)
    expect(await moneyOf(w, secret)).toEqual(money)
    expect(await allRuns(w)).toEqual(runs)
    expect(stub.counts.requests).toBe(3)
  })

  test('the status counts its models as degraded', async () => {
    const { models } = await (await w.call('/v1/status')).json()
    expect(models.degraded).toBe(names.length + statuses.length)
  })
})

test('a model with another upstream goes on there, and the open one is not tried', async () => {
  expect(await times(3, () => ask('two/normal'))).toEqual([200, 200, 200])
  expect([stateOf('gone'), stateOf('stub')]).toEqual(['open', 'closed'])
  const failures = events('failed').length
  expect(await ask('two/normal', { stream: true })).toBe(200)
  expect(events('failed')).toHaveLength(failures)
  expect(await ask('gone/normal')).toBe(503)
})

describe('after its time', () => {
  beforeEach(async () => {
    await times(3, () => ask('stub/status-500'))
    now += 30_000
  })

  promise`E7`
  test('one request tries it; all others are refused meanwhile', async () => {
    expect(stateOf('stub')).toBe('half_open')
    const client = new AbortController()
    const trying = chat('stub/stall', {}, client.signal).catch(() => undefined)
    await until('the upstream to be asked', () => stub.counts.requests === 4)
    const others = Array.from({ length: 20 }, () => ask('stub/normal'))
    expect(new Set(await Promise.all(others))).toEqual(new Set([503]))
    expect(stub.counts.requests).toBe(4)
    client.abort()
    await trying
    await until('the run to end', () => w.deps.live.count() === 0)
    // Anyone who hung up has found nothing out: the next one tries.
    expect(await ask('stub/normal')).toBe(200)
    expect(stateOf('stub')).toBe('closed')
    expect(events('closed')).toHaveLength(1)
    const all = Array.from({ length: 20 }, () => ask('stub/normal'))
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
  })

  test('of many at once one tries it, and that it fails leaves it open', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('stub/status-500')))
    expect(all.toSorted()).toEqual([502, ...Array(19).fill(503)])
    expect([stub.counts.requests, stateOf('stub')]).toEqual([4, 'open'])
    now += 29_999
    expect(await ask('stub/normal')).toBe(503)
    now += 1
    expect(await ask('stub/normal', { stream: true })).toBe(200)
    expect(stateOf('stub')).toBe('closed')
  })

  test('a stream that begins lets others through, and opens it again when it breaks', async () => {
    expect(await ask('stub/cut-1', { stream: true })).toBe(200)
    expect(stateOf('stub')).toBe('open')
    expect([events('opened').length, events('closed').length]).toEqual([2, 1])
  })
})
