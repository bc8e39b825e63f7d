import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { eventsOf } from '../support/messages-upstream.ts'
import { promise } from '../support/promise.ts'
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
      // But for the name of the model, which is the one that people pay for.
      const own = JSON.stringify(sent['model'])
      const written = eventsOf(sent).map((frame) =>
        frame.trimEnd().replace(`"model":${own}`, '"model":"test/anthropic"'),
      )
      expect(written[0]).toContain('test/anthropic')
      const last = written.length - 2
      expect(frames.filter((frame) => frame !== '').slice(0, last)).toEqual(written.slice(0, last))
      const ending = JSON.parse(frames[last]?.split('data: ')[1] ?? '')
      const { counterfoil, ...told } = ending
      expect(told).toEqual(JSON.parse(written[last]?.split('data: ')[1] ?? ''))
      expect(counterfoil.cost_nusd).toBe(Number((await lastRun(w)).cost))
    })

    promise`E16 H: No beta and no tool of a client lets a model read or run beyond what a hold
      covers.`
    test('a beta that widens the context beyond what a hold is bounded by does not go on', async () => {
      const json = {
        model: 'test/anthropic',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'a' }],
      }
      const betas = 'some-beta, Context-1M-2025-08-07,context-9k-2030-01-01'
      const headers = { 'anthropic-beta': betas }
      const answer = await w.call('/v1/messages', { key: secret, json, headers })
      expect(answer.status).toBe(200)
      // The model has a context of 10,000 tokens, and its hold no more.
      expect(doors.seen.at(-1)?.headers['anthropic-beta']).toBe('some-beta,context-9k-2030-01-01')
      expect(answer.headers.get('x-counterfoil-ignored')).toBe('Context-1M-2025-08-07')
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
        json: { ...json, model: 'test/anthropic', unheard: 1, models: ['dearer'] },
      })
      // There what no one here knows goes on; another model would have other rates.
      expect(native.headers.get('x-counterfoil-ignored')).toBe('models')
      expect(doors.seen.at(-1)?.body).toMatchObject({ unheard: 1, top_k: 5 })
      expect(doors.seen.at(-1)?.body).not.toHaveProperty('models')
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

    test('what would need stored answers names the way around it', async () => {
      for (const [member, value, status] of [
        ['previous_response_id', 'resp_1', 404],
        ['conversation', 'conv_1', 400],
        ['prompt', { id: 'pmpt_1' }, 400],
        ['background', true, 400],
      ] as const) {
        const json = { model: 'test/openai', input: 'x', [member]: value }
        const answer = await w.call('/v1/responses', { key: secret, json })
        const { error } = await answer.json()
        expect([answer.status, error.param]).toEqual([status, member])
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
})
