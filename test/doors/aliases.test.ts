import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { modelToml, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const aliases = `aliases = { "best" = "acme/large", "claude-*" = "acme/small", "claude-big-*" = "acme/large", "claude-big-1" = "acme/small" }`

describe('a name that stands for a model', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = [
      aliases,
      upstreamToml('local', stub.url),
      modelToml('acme/large', '"local:normal"'),
      modelToml('acme/small', '"local:normal"'),
    ]
    w = await world({ toml: toml.join('\n') })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const doors = {
    '/v1/chat/completions': { messages: [{ role: 'user', content: 'a' }], max_tokens: 50 },
    '/v1/messages': { messages: [{ role: 'user', content: 'a' }], max_tokens: 50 },
    '/v1/responses': { input: 'a', max_output_tokens: 50 },
    '/v1/runs': { input: 'a', max_output_tokens: 50 },
  }
  const ask = (path: keyof typeof doors, model: string, key = secret) =>
    w.call(path, { key, json: { model, ...doors[path] } })

  test.each(Object.keys(doors) as (keyof typeof doors)[])(
    'is taken by %s: exact before a glob, the longer glob before the shorter',
    async (path) => {
      for (const [name, id] of [
        ['best', 'acme/large'],
        ['claude-9', 'acme/small'],
        ['claude-big-2', 'acme/large'],
        ['claude-big-1', 'acme/small'],
        ['acme/small', 'acme/small'],
      ] as const) {
        const answer = await ask(path, name)
        const body = await answer.json()
        expect([name, answer.status, body.model]).toEqual([name, 200, id])
        const receipt = await w.call(`/v1/receipts/${answer.headers.get('x-receipt-id')}`, {
          key: secret,
        })
        expect(JSON.stringify(await receipt.json())).toContain(id)
      }
    },
  )

  test('has the rights of its model, not those of the name', async () => {
    const small = await w.key({ balance: usd, models: ['acme/small', 'best'] })
    expect((await ask('/v1/messages', 'claude-9', small.secret)).status).toBe(200)
    for (const path of Object.keys(doors) as (keyof typeof doors)[]) {
      const refused = await ask(path, 'best', small.secret)
      expect([path, refused.status]).toEqual([path, 403])
    }
  })

  test('counts input and quotes as its model', async () => {
    const json = { model: 'claude-9', ...doors['/v1/messages'] }
    expect((await w.call('/v1/messages/count_tokens', { key: secret, json })).status).toBe(200)
    const wish = { model: 'best', max_input_tokens: 10, max_output_tokens: 10, valid_s: 60 }
    const quote = await (await w.call('/v1/quotes', { key: secret, json: wish })).json()
    expect(JSON.stringify(quote)).toContain('acme/large')
  })

  test('stands beside its model in the list, and in that of Anthropic as an entry', async () => {
    const { data } = await (await w.call('/v1/models')).json()
    const of = (id: string) => data.find((one: { id: string }) => one.id === id)
    expect(of('acme/large').aliases).toEqual(['best', 'claude-big-*'])
    expect(of('counterfoil/echo-1').aliases).toBeUndefined()
    const client = new Anthropic({ apiKey: secret, authToken: null, baseURL: w.origin })
    const listed = []
    for await (const model of client.models.list()) listed.push(model)
    const names = listed.map(({ id }) => id)
    expect(names).toContain('claude-big-1')
    expect(names.some((name) => name.includes('*'))).toBe(false)
    expect(listed.find(({ id }) => id === 'best')).toMatchObject({
      type: 'model',
      display_name: 'acme/large',
      lifecycle: 'active',
      capabilities: { image_input: { supported: false } },
    })
  })

  test.each(['acme/large', 'best'])('%s is found by the client of Anthropic', async (name) => {
    const client = new Anthropic({ apiKey: secret, authToken: null, baseURL: w.origin })
    const model = await client.models.retrieve(name)
    expect([model.id, model.type]).toEqual(['acme/large', 'model'])
    expect([typeof model.max_input_tokens, typeof model.max_tokens]).toEqual(['number', 'number'])
    for (const path of [name, encodeURIComponent(name)]) {
      const ours = await (await w.call(`/v1/models/${path}`, { key: secret })).json()
      expect([ours.id, ours.object]).toEqual(['acme/large', 'model'])
    }
    const headers = { 'x-api-key': secret }
    expect((await w.call(`/v1/models/${name}`, { headers })).status).toBe(401)
  })

  test('that is not known names the nearest that the key may use', async () => {
    const bounded = await w.key({ balance: usd, models: ['acme/small'] })
    const words = async (model: string, key?: string) => {
      const answer = await ask('/v1/chat/completions', model, key)
      const { error } = await answer.json()
      expect([answer.status, error.type, error.param]).toEqual([404, 'model_not_found', 'model'])
      return error.message
    }
    expect(await words('acme/larg')).toContain('Did you mean acme/large?')
    expect(await words('large')).toContain('Did you mean acme/large?')
    expect(await words('other/small-2024')).toContain('Did you mean acme/small?')
    expect(await words('bst')).toContain('Did you mean best?')
    expect(await words('acme/larg', bounded.secret)).not.toContain('acme/large')
    expect(await words('unlike-any')).not.toContain('Did you mean')
    expect(await words('x'.repeat(100_000))).not.toContain('Did you mean')
  })
})
