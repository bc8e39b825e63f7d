import { afterEach, beforeEach, expect, test } from 'bun:test'
import { upstreamHealth } from '../../src/front/admin/upstreams.ts'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, modelsToml, until } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const rules = 'breaker_failures = 5\nbreaker_cooldown_ms = 30_000\ntimeout_first_byte_ms = 20_000'
let now = 0
let stub: StubUpstream
let w: World
const keys: string[] = []

beforeEach(async () => {
  now = 1_000_000
  stub = await startStubUpstream()
  w = await world({
    toml: modelsToml(stub.url, ['normal', 'status-500', 'stall'], rules),
    monotonic: () => now,
  })
  keys.length = 0
  for (let i = 1; i <= 9; i++) {
    const account = `0x${`${i}`.repeat(40)}`
    keys.push((await w.key({ account, balance: 10n * usd })).secret)
  }
})
afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const chat = (who: number, model: string, more: object = {}, signal?: AbortSignal) => {
  const messages = [{ role: 'user', content: 'hi' }]
  const json = { model: `stub/${model}`, messages, max_tokens: 100, ...more }
  return w.call('/v1/chat/completions', {
    key: keys[who] ?? '',
    json,
    ...(signal ? { signal } : {}),
  })
}
const ask = async (who: number, model = 'normal', more: object = {}): Promise<number> => {
  const answer = await chat(who, model, more)
  await answer.text()
  return answer.status
}
const stateOf = () => upstreamHealth(w.deps).find(({ id }) => id === 'stub')?.breaker

promise`E14 C: A few accounts whose requests fail do not stop the runs of others at the same
  upstream.`
test('eight failing requests of two accounts in turn stop no run of a third that was answered', async () => {
  for (let round = 0; round < 3; round++) {
    expect(await ask(2, 'normal', { stream: round === 1 })).toBe(200)
    for (let i = 0; i < 8; i++) expect(await ask(i % 2, 'status-500')).toBe(502)
    expect([stateOf(), await ask(2)]).toEqual(['closed', 200])
    now += 20_000
  }
})

promise`E14`
test('if they open it because no one else asked, the first run of a third account closes it', async () => {
  for (let i = 0; i < 8; i++) await ask(i % 2, 'status-500')
  expect([stateOf(), await ask(0), await ask(1)]).toEqual(['open', 503, 503])
  expect([await ask(2), stateOf(), await ask(0)]).toEqual([200, 'closed', 200])
})

promise`E14`
test('a request that one of them leaves hanging after the cooldown holds no third account up', async () => {
  for (let i = 0; i < 8; i++) await ask(i % 2, 'status-500')
  now += 30_000
  const client = new AbortController()
  const asked = stub.counts.requests
  const hanging = chat(0, 'stall', {}, client.signal).catch(() => undefined)
  await until('it to be asked', () => stub.counts.requests > asked)
  expect([stateOf(), await ask(1), await ask(2)]).toEqual(['half_open', 503, 200])
  client.abort()
  await hanging
})

promise`E14`
test('a dead upstream is left alone after five failures; each account finds out at most once', async () => {
  for (let i = 0; i < 5; i++) expect(await ask(i % 3, 'status-500')).toBe(502)
  expect(stateOf()).toBe('open')
  const asked = stub.counts.requests
  for (const who of [3, 4, 5]) {
    expect([await ask(who, 'status-500'), await ask(who, 'status-500')]).toEqual([502, 503])
  }
  expect(stub.counts.requests).toBe(asked + 3)
  const runs = (await allRuns(w)).length
  for (let who = 0; who < 6; who++) expect(await ask(who)).toBe(503)
  expect((await allRuns(w)).length).toBe(runs)
})

test('an upstream that fails for most accounts is left alone although another one was answered', async () => {
  expect(await ask(8)).toBe(200)
  for (let who = 0; who < 4; who++) await ask(who, 'status-500')
  expect(stateOf()).toBe('closed')
  await ask(4, 'status-500')
  expect(stateOf()).toBe('open')
})
