import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { sendJson } from '../support/messages-upstream.ts'
import { promise } from '../support/promise.ts'
import { expectSettled, modelToml, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const error = { type: 'error', error: { type: 'overloaded_error', message: 'Too much to do.' } }
/** An Anthropic server that is overloaded as the model's name says. */
function beOverloaded(how: string, response: ServerResponse): unknown {
  if (how === 'limited') return sendJson(response, 429, { type: 'error', error: {} })
  response.setHeader('retry-after', '7')
  return sendJson(response, 529, error)
}

promise`S9 H: A model server that is overloaded stays so on Messages, and is retried elsewhere.`
describe('a model server that says it is overloaded', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream({
      handler: ({ body }, response) => void beOverloaded(String(body['model']), response),
    })
    const names = ['status', 'limited']
    const toml = [
      upstreamToml('busy', stub.url, 'kind = "anthropic"\nbreaker_failures = 0'),
      ...names.map((name) => modelToml(`test/${name}`, `"busy:${name}"`)),
    ]
    w = await world({ toml: toml.join('\n') })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const ask = (path: string, how: string, stream: boolean, headers = {}) => {
    const input = { messages: [{ role: 'user', content: 'a' }], input: 'a', max_tokens: 20 }
    const { messages, max_tokens } = input
    const body = path === '/v1/responses' ? { input: 'a' } : { messages, max_tokens }
    const json = { model: `test/${how}`, stream, ...body }
    return w.call(path, { key: secret, json, headers })
  }

  test.each([true, false])('is a 529 on Messages, a 503 elsewhere (stream %p)', async (is) => {
    const answer = await ask('/v1/messages', 'status', is)
    const body = await answer.json()
    expect([answer.status, body.error.type]).toEqual([529, 'overloaded_error'])
    expect(body.error.details.type).toBe('unavailable')
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(answer.headers.get('x-should-retry')).toBeNull()
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      const other = await ask(path, 'status', is)
      expect([other.status, (await other.json()).error.type]).toEqual([503, 'unavailable'])
    }
  })

  test('is told apart from one that limits its callers', async () => {
    const answer = await ask('/v1/messages', 'limited', false)
    expect(answer.status).toBe(503)
  })
})
