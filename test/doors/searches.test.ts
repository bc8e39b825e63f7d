import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { startJsonServer } from '../support/messages-upstream.ts'
import { expectSettled, lastRun, modelToml, upstreamToml } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

const search = (id: string, action: JsonObject, status = 'completed'): JsonObject => ({
  id,
  type: 'web_search_call',
  status,
  action,
})
/** Two searches, a page that was opened, and a search that failed. */
const items = [
  search('ws_1', { type: 'search', query: 'a' }),
  search('ws_2', { type: 'open_page', url: 'https://x.example' }),
  search('ws_3', { type: 'search', query: 'b' }),
  search('ws_4', { type: 'search', query: 'c' }, 'failed'),
]
const response: JsonObject = {
  ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'far-model' },
  output: items,
  usage: { input_tokens: 30, output_tokens: 9 },
}
const message: JsonObject = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'far-model' },
  content: [
    { type: 'server_tool_use', id: 's_1', name: 'web_search', input: { query: 'a' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 's_1',
      content: [{ type: 'web_search_result' }],
    },
    { type: 'text', text: 'Found.' },
  ],
  stop_reason: 'end_turn',
  usage: {
    ...{ input_tokens: 30, output_tokens: 9 },
    server_tool_use: { web_search_requests: 1 },
  },
}

const frame = (data: JsonObject): string =>
  `event: ${data['type']}\ndata: ${JSON.stringify(data)}\n\n`
const events = [
  { type: 'response.created', response: { id: 'resp_1', model: 'far-model' } },
  ...items.map((item, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  })),
  { type: 'response.completed', response },
]

describe('Searches of a model server', () => {
  let server: Awaited<ReturnType<typeof startJsonServer>>
  let w: World
  let secret: string

  beforeAll(async () => {
    server = await startJsonServer((body, answer) => {
      const isStream = body['stream'] === true
      answer.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
      const whole = body['messages'] === undefined ? response : message
      answer.end(isStream ? events.map(frame).join('') : JSON.stringify(whole))
    })
    const rate = 'web_search_nusd = 10_000_000'
    const toml = [
      upstreamToml('messages', server.url, 'kind = "anthropic"'),
      upstreamToml('responses', server.url, 'kind = "responses"'),
      ...['messages', 'responses'].flatMap((kind) => [
        modelToml(`${kind}/searching`, `"${kind}:far-model"`, rate),
        modelToml(`${kind}/plain`, `"${kind}:far-model"`),
      ]),
    ]
    w = await world({ toml: toml.join('\n') })
    secret = (await w.key({ balance: 100n * usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await server.stop()
  })

  const respond = (more: JsonObject, model = 'responses/searching') =>
    w.call('/v1/responses', {
      key: secret,
      json: { model, input: 'Search.', tools: [{ type: 'web_search' }], ...more },
    })
  const ask = (model: string) =>
    w.call('/v1/messages', {
      key: secret,
      json: {
        ...{ model, max_tokens: 50, messages: [{ role: 'user', content: 'Search.' }] },
        tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
      },
    })
  const searchesOf = async () => {
    const run = await lastRun(w)
    expect(run.cost).toBeLessThanOrEqual(run.hold)
    return run.lines.find(({ meter }) => meter === 'web_search')?.quantity
  }

  test.each([false, true])(
    'are held for, billed by the items that completed, and shown; streamed: %p',
    async (stream) => {
      const answer = await respond({ stream })
      const text = await answer.text()
      expect(server.seen.at(-1)?.body).toMatchObject({
        max_tool_calls: 5,
        tools: [{ type: 'web_search' }],
      })
      expect(await searchesOf()).toBe(2)
      expect((await lastRun(w)).hold).toBeGreaterThan(5n * 10_000_000n)
      expect(text).toContain('responses/searching')
      expect(text).not.toContain('far-model')
    },
  )

  test('of Messages are billed as its server reports them.', async () => {
    const answer = await (await ask('messages/searching')).json()
    expect(answer.model).toBe('messages/searching')
    expect(await searchesOf()).toBe(1)
  })

  test('without a rate are refused by Messages, and by Responses where one is forced.', async () => {
    const before = server.seen.length
    const refused = await ask('messages/plain')
    expect(refused.status).toBe(400)
    expect((await refused.json()).error.message).toContain('has no rate for searches')
    const choice = { tool_choice: { type: 'web_search' } }
    const forced = await respond(choice, 'responses/plain')
    const { error } = await forced.json()
    expect([forced.status, error.param, server.seen.length]).toEqual([400, 'tool_choice', before])
  })

  test('that an agent offers unasked stay behind where they have no rate, and are named.', async () => {
    const answer = await respond({}, 'responses/plain')
    expect(answer.headers.get('x-counterfoil-ignored')).toBe('tools.web_search')
    expect(server.seen.at(-1)?.body).not.toHaveProperty('tools')
  })
})
