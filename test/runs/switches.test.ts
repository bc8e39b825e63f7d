import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../support/promise.ts'
import { usd, type World, world } from '../support/world.ts'

const messages = [{ role: 'user', content: 'one two' }]
const chat = { model: 'counterfoil/echo-1', messages }
const embedding = { model: 'counterfoil/embed-1', input: 'one' }
const native = { model: 'counterfoil/echo-1', input: 'one two' }

promise`B24`
describe('a member that decides how a request is answered or charged', () => {
  let w: World
  let secret = ''
  beforeAll(async () => {
    w = await world()
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(() => w.stop())

  const post = (path: string, json: object) => w.call(path, { key: secret, json })

  const wrong: [path: string, body: object, param: string][] = []
  for (const value of ['true', 1, 0, [], {}, '']) {
    wrong.push(
      ['/v1/chat/completions', { ...chat, stream: value }, 'stream'],
      ['/v1/chat/completions', { ...chat, fit: value }, 'fit'],
      [
        '/v1/chat/completions',
        { ...chat, stream: true, stream_options: { include_usage: value } },
        'stream_options.include_usage',
      ],
      ['/v1/embeddings', { ...embedding, stream: value }, 'stream'],
      ['/v1/runs', { ...native, stream: value }, 'stream'],
      ['/v1/runs', { ...native, background: value }, 'background'],
      ['/v1/runs', { ...native, fit: value }, 'fit'],
    )
  }
  for (const value of ['true', 1, []]) {
    wrong.push(['/v1/chat/completions', { ...chat, stream_options: value }, 'stream_options'])
  }
  for (const value of ['1', 1.5, true, [2]]) {
    wrong.push(
      ['/v1/chat/completions', { ...chat, n: value }, 'n'],
      ['/v1/chat/completions', { ...chat, max_tokens: value }, 'max_tokens'],
      ['/v1/chat/completions', { ...chat, max_completion_tokens: value }, 'max_completion_tokens'],
      ['/v1/runs', { ...native, max_output_tokens: value }, 'max_output_tokens'],
    )
  }

  test.each(wrong)('%s refuses %j with 400 and its name', async (path, body, param) => {
    const answer = await post(path, body)
    const { error } = await answer.json()
    expect([answer.status, error?.type, error?.param]).toEqual([400, 'invalid_request', param])
  })

  const unserved = {
    modalities: [['text', 'audio'], ['image'], 'audio'],
    audio: [{ voice: 'alloy', format: 'wav' }],
    web_search_options: [{}, { search_context_size: 'low' }],
    search_parameters: [{ mode: 'auto' }, {}],
    enable_search: [true],
    plugins: [[{ id: 'web' }]],
    background: [true],
    deferred: [true],
    previous_response_id: ['resp_1'],
    conversation: ['conv_1'],
  }
  const asked = Object.entries(unserved).flatMap(([name, values]) =>
    values.map((value): [string, unknown] => [name, value]),
  )
  test.each(asked)(
    'of a chat is refused by its name where nothing here does it: %s %j',
    async (param, value) => {
      for (const stream of [true, false]) {
        const answer = await post('/v1/chat/completions', { ...chat, stream, [param]: value })
        const { error } = await answer.json()
        expect([answer.status, error?.type, error?.param]).toEqual([400, 'invalid_request', param])
        expect(answer.headers.get('x-should-retry')).toBe('false')
      }
    },
  )

  test('of a chat may say that it is off', async () => {
    const off = {
      modalities: ['text'],
      search_parameters: { mode: 'off' },
      enable_search: false,
      plugins: [],
      background: false,
      deferred: false,
      audio: null,
    }
    const answer = await post('/v1/chat/completions', { ...chat, ...off, prediction: {}, odd: 1 })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-counterfoil-ignored')).toContain('odd')
  })

  test('may be null, which is the same as absent', async () => {
    const none = { stream: null, fit: null, stream_options: null, n: null, max_tokens: null }
    const answer = await post('/v1/chat/completions', { ...chat, ...none })
    expect([answer.status, (await answer.json()).object]).toEqual([200, 'chat.completion'])
    const options = { stream: true, stream_options: { include_usage: null } }
    const streamed = await post('/v1/chat/completions', { ...chat, ...options })
    expect(streamed.headers.get('content-type')).toStartWith('text/event-stream')
    await streamed.text()
  })
})
