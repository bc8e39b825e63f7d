import { describe, expect, test } from 'bun:test'
import { doors } from '../support/doors.ts'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, modelsToml, moneyOf, until } from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, world } from '../support/world.ts'

let gate = Promise.withResolvers<void>()
const waits: StubHandler = async (_, response) => {
  await gate.promise
  const message = { role: 'assistant', content: 'fine' }
  response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
}

describe('503 unavailable above the runs that a server takes at once', () => {
  promise`D22`
  test('is answered at once, costs and holds nothing; the others end well', async () => {
    gate = Promise.withResolvers()
    const stub = await startStubUpstream({ handler: waits })
    const toml = `${modelsToml(stub.url, ['wait'])}[limits]\nadmission = 8\n`
    const w = await world({ toml })
    const { secret } = await w.key({ balance: usd })
    const run = (path = '/v1/chat/completions', more: object = {}) => {
      const messages = [{ role: 'user', content: 'hi' }]
      return w.call(path, { key: secret, json: { model: 'stub/wait', messages, ...more } })
    }
    const admitted = Array.from({ length: 8 }, () => run())
    await until('the upstream to have all', () => stub.counts.active === 8)
    const held = await moneyOf(w, secret)
    for (const { path, body, read } of doors) {
      for (const stream of [false, true]) {
        const json = body({ model: 'stub/wait', text: 'hi', stream })
        const answer = await w.call(path, { key: secret, json })
        const told = [answer.status, answer.headers.get('retry-after-ms')]
        expect([...told, read(await answer.text()).error]).toEqual([503, '1000', 'unavailable'])
      }
    }
    const refused = [
      await run(),
      await run('/v1/chat/completions', { stream: true }),
      await run('/v1/runs', { background: true }),
    ]
    for (const answer of refused) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(answer.headers.get('retry-after-ms')).toBe('1000')
      expect(answer.headers.get('x-should-retry')).toBeNull()
      expect((await answer.json()).error.type).toBe('unavailable')
    }
    expect(await moneyOf(w, secret)).toEqual(held)
    expect(await allRuns(w)).toHaveLength(8)
    expect((await w.call('/v1/status')).status).toBe(200)
    gate.resolve()
    const answers = await Promise.all(admitted)
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    await expectSettled(w)
    // A refusal before the hold gives its place back.
    for (let tries = 0; tries < 10; tries++) await run('/v1/chat/completions', { max_tokens: 0 })
    const { secret: poor } = await w.key({ capLimit: 1n })
    for (let tries = 0; tries < 10; tries++) {
      const json = { model: 'stub/wait', messages: [{ role: 'user', content: 'hi' }] }
      expect((await w.call('/v1/chat/completions', { key: poor, json })).status).toBe(402)
    }
    expect(w.deps.live.count()).toBe(0)
    expect((await run()).status).toBe(200)
    await w.stop()
    await stub.stop()
  })

  test('a stopping server admits no run and says so', async () => {
    const w = await world()
    const { secret } = await w.key({ balance: usd })
    w.deps.live.close()
    const messages = [{ role: 'user', content: 'hi' }]
    const json = { model: 'counterfoil/echo-1', messages }
    const answer = await w.call('/v1/chat/completions', { key: secret, json })
    expect([answer.status, (await answer.json()).error.type]).toEqual([503, 'unavailable'])
    await w.stop()
  })
})

describe('a hold and the answer of a failed run', () => {
  promise`D11`
  promise`D20`
  test('the hold is gone when a 5xx arrives, so that a retry can afford its own', async () => {
    const stub = await startStubUpstream()
    const w = await world({ toml: modelsToml(stub.url, ['status-500', 'status-429', 'text']) })
    const messages = [{ role: 'user', content: 'hi' }]
    const { secret } = await w.key({ balance: usd })
    for (const [model, status] of [
      ['stub/status-500', 502],
      ['stub/status-429', 503],
      ['stub/text', 502],
    ] as const) {
      for (const stream of [false, true]) {
        const json = { model, messages, stream }
        const answer = await w.call('/v1/chat/completions', { key: secret, json })
        const { held_nusd, balance_nusd } = await moneyOf(w, secret)
        expect([answer.status, held_nusd, balance_nusd]).toEqual([status, 0, Number(usd)])
        expect(answer.headers.get('x-should-retry')).toBeNull()
        expect(answer.headers.get('x-cost-nusd')).toBeNull()
        await answer.text()
      }
    }
    await w.stop()
    await stub.stop()
  })
})
