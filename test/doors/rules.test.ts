import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { eventsOf } from '../support/messages-upstream.ts'
import { lastRun } from '../support/runs.ts'
import { type Doors, serveDoors } from './doors.ts'

describe('the doors of Messages and Responses', () => {
  let doors: Doors
  let w: Doors['w']
  let secret: string
  let anthropic: Anthropic

  beforeAll(async () => {
    doors = await serveDoors()
    ;({ w, secret, anthropic } = doors)
  })
  afterAll(() => doors.stop())

  describe('what only one protocol knows', () => {
    test('caches and reasoning go on as they came, and its events come back so', async () => {
      const body: JsonObject = {
        model: 'test/anthropic',
        max_tokens: 900,
        stream: true,
        thinking: { type: 'enabled', budget_tokens: 500 },
        system: [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral' } }],
        messages: [{ role: 'user', content: 'How is the weather in Rome?' }],
      }
      const answer = await w.call('/v1/messages', {
        key: secret,
        json: body,
        headers: { 'anthropic-beta': 'some-beta', 'openai-beta': 'other', 'x-own': 'kept' },
      })
      const frames = (await answer.text()).split('\n\n')
      const sent = doors.seen.at(-1)?.body ?? {}
      expect(sent['system']).toEqual(body['system'] ?? null)
      expect(sent['thinking']).toEqual(body['thinking'] ?? null)
      const { headers = {} } = doors.seen.at(-1) ?? {}
      expect([headers['anthropic-beta'], headers['anthropic-version']]).toEqual([
        'some-beta',
        '2023-06-01',
      ])
      expect([headers['openai-beta'], headers['x-own']]).toEqual([undefined, undefined])
      const written = eventsOf(sent).map((frame) => frame.trimEnd())
      const last = written.length - 2
      expect(frames.filter((frame) => frame !== '').slice(0, last)).toEqual(written.slice(0, last))
      const ending = JSON.parse(frames[last]?.split('data: ')[1] ?? '')
      const { counterfoil, ...told } = ending
      expect(told).toEqual(JSON.parse(written[last]?.split('data: ')[1] ?? ''))
      expect(counterfoil.cost_nusd).toBe(Number((await lastRun(w)).cost))
    })

    test('a beta that widens the context beyond what a hold is bounded by does not go on', async () => {
      const json = {
        model: 'test/anthropic',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'a' }],
      }
      const betas = 'some-beta, context-1m-2025-08-07,context-9k-2030-01-01'
      const headers = { 'anthropic-beta': betas }
      const answer = await w.call('/v1/messages', { key: secret, json, headers })
      expect(answer.status).toBe(200)
      // The model has a context of 10,000 tokens, and its hold no more.
      expect(doors.seen.at(-1)?.headers['anthropic-beta']).toBe('some-beta,context-9k-2030-01-01')
      expect(answer.headers.get('x-counterfoil-ignored')).toBe('context-1m-2025-08-07')
      const counted = '/v1/messages/count_tokens'
      await w.call(counted, { key: secret, json, headers: { 'anthropic-beta': 'context-1m-x' } })
      expect(doors.seen.at(-1)?.path).toEndWith('/count_tokens')
      expect(doors.seen.at(-1)?.headers['anthropic-beta']).toBeUndefined()
    })

    test('members without effect are named in a header', async () => {
      const json = {
        model: 'test/openai',
        max_tokens: 50,
        top_k: 5,
        context_management: { edits: [] },
        messages: [{ role: 'user', content: 'Hi' }],
      }
      const answer = await w.call('/v1/messages', { key: secret, json })
      expect(answer.headers.get('x-counterfoil-ignored')).toBe('context_management, top_k')
      const native = await w.call('/v1/messages', {
        key: secret,
        json: { ...json, model: 'test/anthropic', unheard: 1, let_through: 2 },
      })
      expect(native.headers.get('x-counterfoil-ignored')).toBe('unheard')
      expect(doors.seen.at(-1)?.body).toMatchObject({ let_through: 2, top_k: 5 })
    })
  })

  describe('members inside of messages without effect', () => {
    const cached = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }
    const json = {
      model: 'test/openai',
      max_tokens: 50,
      system: [cached],
      messages: [{ role: 'user', content: [cached] }],
    }

    test.each([false, true])('are named, also to a retry, streamed: %p', async (stream) => {
      const headers = { 'idempotency-key': `ignored ${stream}` }
      const ask = () => w.call('/v1/messages', { key: secret, json: { ...json, stream }, headers })
      const named = 'messages.cache_control, system.cache_control'
      for (const isReplayed of [false, true]) {
        const answer = await ask()
        await answer.text()
        expect(answer.headers.has('idempotent-replayed')).toBe(isReplayed)
        expect(answer.headers.get('x-counterfoil-ignored')).toBe(named)
      }
    })

    test('are none where the server speaks the protocol of the door', async () => {
      const answer = await w.call('/v1/messages', {
        key: secret,
        json: { ...json, model: 'test/anthropic' },
      })
      expect(answer.headers.has('x-counterfoil-ignored')).toBe(false)
    })

    test('are named by Chat Completions too, and those that a model passes are not', async () => {
      const ask = async (model: string) => {
        const messages = [{ role: 'user', content: 'Hi', x_new: 1 }]
        const more = { let_through: 2, unheard: 3, metadata: { task: 'a' }, store: false }
        const answer = await w.call('/v1/chat/completions', {
          key: secret,
          json: { model, messages, ...more },
        })
        return answer.headers.get('x-counterfoil-ignored')
      }
      expect(await ask('test/openai')).toBe('let_through, unheard, messages.x_new')
      expect(await ask('test/passing')).toBe('unheard, messages.x_new')
      expect(doors.chatSeen.at(-1)).toMatchObject({ let_through: 2 })
    })
  })

  describe('refusals', () => {
    test('of Messages have the shape that its clients read', async () => {
      const error = await anthropic.messages
        .create({ model: 'test/none', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] })
        .catch((thrown) => thrown)
      expect(error).toBeInstanceOf(Anthropic.NotFoundError)
      expect(error.error).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
    })

    test('402 is a billing_error', async () => {
      const { secret: poor } = await w.key({ capLimit: 1n })
      const answer = await w.call('/v1/messages', {
        key: poor,
        json: { model: 'test/openai', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] },
      })
      const { error, request_id } = await answer.json()
      expect([answer.status, error.type]).toEqual([402, 'billing_error'])
      expect(error.details).toMatchObject({ type: 'cap_exceeded' })
      expect(request_id).toStartWith('req_')
    })

    test('a thread is refused so that its client goes on without one', async () => {
      const json = {
        model: 'test/openai',
        max_tokens: 5,
        thread: { type: 'create' },
        messages: [{ role: 'user', content: 'x' }],
      }
      const answer = await w.call('/v1/messages', { key: secret, json })
      const { error } = await answer.json()
      expect([answer.status, error.type]).toEqual([400, 'invalid_request_error'])
      expect(error.details.error_code).toBe('thread_unsupported_request')
    })

    describe('a key as x-api-key', () => {
      const base = { 'content-type': 'application/json' }
      const asked = JSON.stringify({
        model: 'test/anthropic',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'a' }],
      })
      const post = async (path: string, headers: Record<string, string>) => {
        const all = { ...base, ...headers }
        const answer = await w.call(path, { method: 'POST', headers: all, body: asked })
        const body = await answer.json()
        return { status: answer.status, headers: answer.headers, error: body.error ?? {} }
      }
      const paths = ['/v1/messages', '/v1/messages/count_tokens']

      test.each(paths)('is the key at %s, alone and beside the same bearer', async (path) => {
        const bearer = { authorization: `Bearer ${secret}` }
        const ways = [{ 'x-api-key': secret }, { 'x-api-key': secret, ...bearer }, bearer]
        for (const headers of [...ways, { 'x-api-key': '', ...bearer }]) {
          expect((await post(path, headers)).status).toBe(200)
        }
      })

      test.each(paths)('is refused at %s beside another bearer, not retried', async (path) => {
        const other = `${secret.slice(0, -1)}x`
        for (const [bearer, key] of [
          [secret, other],
          [other, secret],
          [secret, 'sk-ant-of-someone'],
        ] as const) {
          const refused = await post(path, { authorization: `Bearer ${bearer}`, 'x-api-key': key })
          expect([refused.status, refused.error.type]).toEqual([401, 'authentication_error'])
          expect(refused.error.details.type).toBe('invalid_key')
          expect(refused.error.message).toContain('two different keys')
          expect(refused.headers.get('x-should-retry')).toBe('false')
        }
      })

      test('that is unknown is told both ways to send one', async () => {
        const unknown: Record<string, string> = { 'x-api-key': 'sk-ant-of-someone' }
        for (const headers of [unknown, {}]) {
          const { status, error } = await post('/v1/messages', headers)
          expect([status, error.type]).toEqual([401, 'authentication_error'])
          expect(error.message).toContain('x-api-key: sk-service-')
          expect(error.message).toContain('Authorization: Bearer sk-service-')
        }
      })

      test('is no key at the doors of other protocols, which say where it is one', async () => {
        for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/runs', '/v1/quotes']) {
          const { status, error } = await post(path, { 'x-api-key': secret })
          expect([path, status, error.type]).toEqual([path, 401, 'invalid_key'])
          expect(error.message).toContain('ANTHROPIC_AUTH_TOKEN')
        }
      })

      test("works in Anthropic's client, which sends it so", async () => {
        const client = new Anthropic({ apiKey: secret, authToken: null, baseURL: w.origin })
        const { content } = await client.messages.create({
          model: 'test/anthropic',
          max_tokens: 50,
          messages: [{ role: 'user', content: 'a' }],
        })
        expect(content.length).toBeGreaterThan(0)
      })

      test('that is wrong is told at once by a client with its ordinary retries', async () => {
        const options = { apiKey: `${secret}x`, authToken: null, baseURL: w.origin }
        const began = performance.now()
        const asked = new Anthropic(options).messages.create({
          model: 'test/anthropic',
          max_tokens: 50,
          messages: [{ role: 'user', content: 'a' }],
        })
        const error = await asked.then(
          () => undefined,
          (one: unknown) => one,
        )
        expect(error).toBeInstanceOf(Anthropic.AuthenticationError)
        expect(performance.now() - began).toBeLessThan(1000)
      })
    })

    test('what would need stored answers names the way around it', async () => {
      for (const [member, value] of [
        ['previous_response_id', 'resp_1'],
        ['conversation', 'conv_1'],
        ['background', true],
      ] as const) {
        const json = { model: 'test/openai', input: 'x', [member]: value }
        const answer = await w.call('/v1/responses', { key: secret, json })
        const { error } = await answer.json()
        expect([answer.status, error.param]).toEqual([400, member])
      }
      expect((await w.call('/v1/responses/resp_1', { key: secret })).status).toBe(404)
    })

    test('what a model server cannot be asked is refused before the run begins', async () => {
      const json = { model: 'test/anthropic', n: 2, messages: [{ role: 'user', content: 'x' }] }
      const answer = await w.call('/v1/chat/completions', { key: secret, json })
      const { error } = await answer.json()
      expect([answer.status, error.param]).toEqual([400, 'n'])
    })

    test('of the model server cost nothing', async () => {
      const json = {
        model: 'test/refused',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'x' }],
      }
      const answer = await w.call('/v1/messages', { key: secret, json })
      expect(answer.status).toBe(400)
      expect((await lastRun(w)).cost).toBe(0n)
    })
  })

  test('count_tokens counts without a run', async () => {
    const { input_tokens } = await anthropic.messages.countTokens({
      model: 'test/openai',
      messages: [{ role: 'user', content: 'How is the weather in Rome?' }],
    })
    expect(input_tokens).toBeGreaterThan(5)
  })

  test('the list of models has the shape that clients of Anthropic read', async () => {
    const found = []
    for await (const { id, display_name } of anthropic.models.list()) found.push([id, display_name])
    expect(found).toContainEqual(['test/openai', 'test/openai'])
    expect(found.map(([id]) => id)).not.toContain('counterfoil/embed-1')
  })

  describe('a path that is not served says what is', () => {
    const words = async (path: string): Promise<string> => {
      const answer = await w.call(path, { method: 'POST', headers: { accept: '*/*' } })
      const { error } = await answer.json()
      expect(answer.status).toBe(404)
      return error.message
    }

    test('of OpenAI', async () => {
      expect(await words('/v1/images/generations')).toContain('is not served here')
      expect(await words('/v1/nothing')).toContain('POST /v1/chat/completions')
    })

    test.each([
      ['/chat/completions', '/v1/chat/completions'],
      ['/messages/count_tokens', '/v1/messages/count_tokens'],
      ['/v1/chat/completions/', '/v1/chat/completions'],
      ['//v1//messages', '/v1/messages'],
      ['/v1/v1/messages', '/v1/messages'],
      ['/v1/messages/v1/messages', '/v1/messages'],
      ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
      ['/v2/responses', '/v1/responses'],
      ['/api/v1/embeddings', '/v1/embeddings'],
      ['/anthropic/v1/messages', '/v1/messages'],
    ])('%s names %s', async (path, right) => {
      expect(await words(path)).toContain(right)
    })

    test('with a word where an id is, is not there for another method either', async () => {
      for (const path of ['/v1/responses/review', '/v1/models/test/openai:predict']) {
        expect(await words(path)).toContain('There is no such path')
      }
    })

    test('to a browser too', async () => {
      for (const path of ['/v1/none', '/v1beta/none', '/api/tags', '/v2/chat', '/openai']) {
        const answer = await w.call(path, {
          headers: { accept: 'text/html', 'hx-request': 'true' },
        })
        const { error } = await answer.json()
        expect([answer.status, error.type]).toEqual([404, 'not_found'])
        expect(error.message).toContain('POST /v1/chat/completions')
      }
    })
  })

  test('a method that a path does not take is told which it takes', async () => {
    for (const [method, path, taken] of [
      ['GET', '/v1/chat/completions', 'POST'],
      ['GET', '/v1/responses', 'POST'],
      ['POST', '/v1/models', 'GET'],
    ] as const) {
      const answer = await w.call(path, { method, headers: { accept: 'text/html' } })
      const { error } = await answer.json()
      expect([answer.status, error.message]).toEqual([405, `Send ${taken} to this path.`])
      expect(answer.headers.get('allow')).toContain(taken)
    }
  })
})
