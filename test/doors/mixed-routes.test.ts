import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { startMessagesUpstream } from '../support/messages-upstream.ts'
import { expectSettled, lastRun, modelToml, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

describe('A route with steps of several protocols', () => {
  let chat: Awaited<ReturnType<typeof startStubUpstream>>
  let messages: Awaited<ReturnType<typeof startMessagesUpstream>>
  let w: World
  let secret: string

  beforeAll(async () => {
    chat = await startStubUpstream()
    messages = await startMessagesUpstream()
    const toml = [
      upstreamToml('chat', chat.url),
      upstreamToml('own', messages.url, 'kind = "anthropic"\nbreaker_failures = 0'),
      modelToml('mixed/chat-first', '"chat:normal", "own:far"'),
      modelToml('mixed/failing', '"own:refuse-500", "chat:normal"'),
      modelToml('mixed/chat', '"chat:normal"'),
    ]
    w = await world({ toml: toml.join('\n') })
    secret = (await w.key({ balance: 100n * usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    for (const stub of [chat, messages]) await stub.stop()
  })

  const ask = (model: string, more: JsonObject = {}) =>
    w.call('/v1/messages', {
      key: secret,
      json: { model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], ...more },
    })
  /** Forces a tool that Chat Completions has no place for. */
  const own = {
    tools: [
      { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1, max_content_tokens: 1000 },
    ],
    tool_choice: { type: 'tool', name: 'web_fetch' },
  }

  test('is asked in its order where each of them can be.', async () => {
    expect((await ask('mixed/chat-first')).status).toBe(200)
    expect((await lastRun(w)).route).toBe('chat:normal')
  })

  test('leaves out the steps that cannot be asked, and goes on with its own protocol.', async () => {
    const answer = await ask('mixed/chat-first', own)
    expect(answer.status).toBe(200)
    expect((await lastRun(w)).route).toBe('own:far')
    expect(messages.seen.at(-1)?.body).toMatchObject(own)
  })

  test('refuses by name where no step can be asked.', async () => {
    const answer = await ask('mixed/chat', own)
    expect(answer.status).toBe(400)
    expect((await answer.json()).error.details.param).toBe('tool_choice.name')
  })

  test('falls back to a translation within the same hold.', async () => {
    const answer = await ask('mixed/failing', { top_k: 5 })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-counterfoil-ignored')).toBe('top_k')
    const run = await lastRun(w)
    expect([run.route, run.cost <= run.hold]).toEqual(['chat:normal', true])
  })
})
