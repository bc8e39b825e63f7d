import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pricedBuiltins } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

describe('the id of a request on the Messages door', () => {
  let w: World
  let secret: string
  beforeAll(async () => {
    w = await world({ toml: pricedBuiltins })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(() => w.stop())

  const body = {
    model: 'counterfoil/echo-1',
    messages: [{ role: 'user', content: 'hello' }],
    max_tokens: 20,
  }
  const asks: [string, string, object, number][] = [
    ['a whole answer', '/v1/messages', body, 200],
    ['a stream', '/v1/messages', { ...body, stream: true }, 200],
    ['a count', '/v1/messages/count_tokens', { ...body, max_tokens: undefined }, 200],
    ['a refusal', '/v1/messages', { ...body, model: 'none' }, 404],
  ]
  test.each(asks)('stands under both names on %s', async (_, path, json, status) => {
    const answer = await w.call(path, { key: secret, json })
    await answer.text()
    const id = answer.headers.get('x-request-id')
    expect([answer.status, answer.headers.get('request-id')]).toEqual([status, id])
    expect(id).toStartWith('req_')
  })

  test('stands under both names where there is no key', async () => {
    const answer = await w.call('/v1/messages', { json: body })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'))
  })

  test('has one name on the other doors', async () => {
    const json = { model: body.model, messages: body.messages }
    const answer = await w.call('/v1/chat/completions', { key: secret, json })
    expect([answer.status, answer.headers.get('request-id')]).toEqual([200, null])
  })
})
