import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectSettled, modelsToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const header = 'x-counterfoil-max-tokens'

describe('max_tokens above the limit of the model', () => {
  let w: World
  let stub: StubUpstream
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ toml: modelsToml(stub.url, ['normal']) })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const messages = [{ role: 'user', content: 'hi' }]
  const chat = (more: object, headers: Record<string, string> = {}) =>
    w.call('/v1/chat/completions', {
      key: secret,
      headers,
      json: { model: 'stub/normal', messages, ...more },
    })

  test.each([
    [32_000, '1000'],
    [1001, '1000'],
    [1000, null],
    [999, null],
  ])('%d is answered, whole or streamed, with the header %p', async (asked, said) => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      for (const stream of [false, true]) {
        const answer = await chat({ [field]: asked, stream })
        await answer.text()
        expect([answer.status, answer.headers.get(header)]).toEqual([200, said])
        expect(stub.calls.at(-1)?.body[field]).toBe(Math.min(asked, 1000))
      }
    }
  })

  test('is said again when an answer is replayed, whole or streamed', async () => {
    for (const stream of [false, true]) {
      const call = () => chat({ max_tokens: 32_000, stream }, { 'idempotency-key': `k${stream}` })
      const first = await call()
      const said = await first.text()
      const again = await call()
      expect(await again.text()).toBe(said)
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect([first.headers.get(header), again.headers.get(header)]).toEqual(['1000', '1000'])
    }
  })

  test('fit says in the same header what it lowered to', async () => {
    const poor = await w.key({ capLimit: 500_000n })
    const json = { model: 'stub/normal', messages, fit: true }
    const answer = await w.call('/v1/chat/completions', { key: poor.secret, json })
    const { max_output_tokens } = await answer.json()
    expect(answer.headers.get(header)).toBe(String(max_output_tokens))
    expect(max_output_tokens).toBeLessThan(1000)
  })
})
