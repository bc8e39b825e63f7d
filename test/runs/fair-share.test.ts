import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectSettled, modelsToml, moneyOf, until } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const places = 54
/** What one account can have of them. */
const share = 48
/** With the runs of both accounts still below the 256 requests that one process sends at once. */
const stalled = 120

const bodyOf = (model: string, stream: boolean) => ({
  model: `stub/${model}`,
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 20,
  stream,
})

let stub: StubUpstream
beforeAll(async () => {
  stub = await startStubUpstream()
})
afterAll(() => stub.stop())

/** Streams that never end, of one key; `end` hangs up on all of them. */
function stall(w: World, key: string, count: number) {
  const gone = new AbortController()
  const statuses: number[] = []
  // Kept: an answer that no one holds is collected, which hangs up on its stream.
  const answers: Response[] = []
  const asked = Array.from({ length: count }, async (_, i) => {
    // Half never answers, half says a word and stalls.
    const json = bodyOf(i % 2 === 0 ? 'stall' : 'stall-1', true)
    try {
      const answer = await w.call('/v1/chat/completions', { key, json, signal: gone.signal })
      statuses.push(answer.status)
      answers.push(answer)
      if (answer.status !== 200) {
        const { error } = await answer.json()
        expect([answer.status, error.type]).toEqual([429, 'concurrency_limited'])
        expect(Number(answer.headers.get('retry-after-ms'))).toBeGreaterThan(0)
      }
    } catch (error) {
      if (!gone.signal.aborted) throw error
    }
  })
  return {
    statuses,
    async end() {
      gone.abort()
      await Promise.all(asked)
      answers.length = 0
    },
  }
}

const refusedOf = ({ statuses }: { statuses: number[] }): number =>
  statuses.filter((status) => status === 429).length

describe(`${stalled} stalled streams of one key, at an upstream of ${places} places`, () => {
  test('leave places for the runs of another account, which wait for nothing', async () => {
    const limits = `max_in_flight = ${places}\nmax_wait_ms = 4000`
    const w = await world({ toml: modelsToml(stub.url, ['normal', 'stall', 'stall-1'], limits) })
    const greedy = await w.key({ balance: 100n * usd })
    const modest = await w.key({ account: other, balance: usd })
    const streams = stall(w, greedy.secret, stalled)
    await until('its share to be taken', () => stub.counts.active === share)
    for (let round = 0; round < 5; round++) {
      const asked = Array.from({ length: 8 }, async (_, i) => {
        const json = bodyOf('normal', i % 2 === 0)
        const answer = await w.call('/v1/chat/completions', { key: modest.secret, json })
        expect(answer.status).toBe(200)
        expect(await answer.text()).toContain(stubWords[0] ?? '')
      })
      await Promise.all(asked)
    }
    // What found no place was told so, cost nothing and holds nothing; the others go on.
    await until('the rest to be refused', () => refusedOf(streams) === stalled - share, 20_000)
    expect(w.deps.live.count()).toBe(share)
    await streams.end()
    await until('the upstream to be left alone', () => stub.counts.active === 0)
    await expectSettled(w)
    expect((await moneyOf(w, modest.secret)).balance_nusd).toBeLessThan(Number(usd))
    await w.stop()
  }, 60_000)

  test('leave room in the server too, for its built-in model', async () => {
    const toml = `${modelsToml(stub.url, ['stall', 'stall-1'])}[limits]\nadmission = ${places}\n`
    const w = await world({ toml })
    const greedy = await w.key({ balance: 100n * usd })
    const modest = await w.key({ account: other, balance: usd })
    const streams = stall(w, greedy.secret, stalled)
    await until('its share to be taken', () => stub.counts.active === share)
    await until('the rest to be refused', () => refusedOf(streams) === stalled - share)
    const json = { ...bodyOf('', false), model: 'counterfoil/echo-1' }
    for (let round = 0; round < 5; round++) {
      const answer = await w.call('/v1/chat/completions', { key: modest.secret, json })
      expect(answer.status).toBe(200)
    }
    await streams.end()
    await until('the upstream to be left alone', () => stub.counts.active === 0)
    await expectSettled(w)
    await w.stop()
  }, 60_000)
})

describe('an upstream of one place', () => {
  const start = (maxWaitMs: number) => {
    const limits = `max_in_flight = 1\nmax_wait_ms = ${maxWaitMs}`
    return world({ toml: modelsToml(stub.url, ['normal', 'stall', 'stall-1'], limits) })
  }

  test('a run waits for it, and is answered when it is free', async () => {
    const w = await start(30_000)
    const { secret: key } = await w.key({ balance: usd })
    const first = stall(w, key, 1)
    await until('the place to be taken', () => stub.counts.active === 1)
    const waiting = w.call('/v1/chat/completions', { key, json: bodyOf('normal', false) })
    await until('all to be there', () => w.deps.live.count() === 2)
    expect(stub.counts.active).toBe(1)
    await first.end()
    expect((await waiting).status).toBe(200)
    await expectSettled(w)
    await w.stop()
  }, 60_000)

  test('503 unavailable where none comes free in time: nothing held, nothing charged', async () => {
    const w = await start(50)
    const { secret: key } = await w.key({ balance: usd })
    const first = stall(w, key, 1)
    await until('the place to be taken', () => stub.counts.active === 1)
    const modest = await w.key({ account: other, balance: usd })
    const json = bodyOf('normal', false)
    const answer = await w.call('/v1/chat/completions', { key: modest.secret, json })
    expect([answer.status, (await answer.json()).error.type]).toEqual([503, 'unavailable'])
    expect(Number(answer.headers.get('retry-after-ms'))).toBeGreaterThan(0)
    expect(answer.headers.get('x-should-retry')).toBeNull()
    const untouched = { balance_nusd: Number(usd), held_nusd: 0 }
    expect(await moneyOf(w, modest.secret)).toMatchObject(untouched)
    await first.end()
    await expectSettled(w)
    await w.stop()
  }, 60_000)

  test('anyone who hangs up or is cancelled while waiting is charged nothing', async () => {
    const w = await start(30_000)
    const { secret: key } = await w.key({ balance: usd })
    const modest = await w.key({ account: other, balance: usd })
    const first = stall(w, key, 1)
    await until('the place to be taken', () => stub.counts.active === 1)
    const gone = new AbortController()
    const json = bodyOf('normal', true)
    const init = { key: modest.secret, json, signal: gone.signal }
    const hungUp = w.call('/v1/chat/completions', init).catch(() => undefined)
    const wish = { model: 'stub/normal', input: 'hi', background: true }
    const begun = await w.call('/v1/runs', { key: modest.secret, json: wish })
    const { id } = await begun.json()
    await until('both to wait', () => w.deps.live.count() === 3)
    gone.abort()
    await hungUp
    const cancel = { key: modest.secret, method: 'POST' }
    expect((await w.call(`/v1/runs/${id}/cancel`, cancel)).status).toBe(200)
    await until('both to be gone', () => w.deps.live.count() === 1)
    const untouched = { balance_nusd: Number(usd), held_nusd: 0 }
    expect(await moneyOf(w, modest.secret)).toMatchObject(untouched)
    await first.end()
    await expectSettled(w)
    await w.stop()
  }, 60_000)
})
