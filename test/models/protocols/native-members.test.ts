import { describe, expect, test } from 'bun:test'
import type { Json } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { boundOf } from '../../../src/models/bound.ts'
import { echoModel } from '../../../src/models/builtins.ts'
import type { Model } from '../../../src/models/model.ts'
import { forward } from '../../../src/models/protocols/forward.ts'
import { messagesToChat } from '../../../src/models/protocols/messages/request-to-chat.ts'
import { boundOfNative } from '../../../src/models/protocols/native/bound.ts'
import { type Native, nativeOf, nativeRequest } from '../../../src/models/protocols/native.ts'
import { responsesToChat } from '../../../src/models/protocols/responses/request-to-chat.ts'

const model: Model = { ...echoModel, verifiable: 'none', contextTokens: 1e9, maxOutputTokens: 1000 }
const headers = new Headers()

const read = (protocol: Native['protocol'], body: JsonObject): Native =>
  nativeOf(protocol, body, { headers, model })

function faultOf(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof Refusal) return error.detail.param
    throw error
  }
  return undefined
}

describe('What would make the bill wrong is refused by name:', () => {
  test.each<[string, Json]>([
    ['container', 'c'],
    ['mcp_servers', [{ type: 'url', url: 'https://x.example' }]],
    ['speed', 'fast'],
    ['inference_geo', 'us'],
    ['fallbacks', [{ model: 'dearer' }]],
    ['billing_policy', { bill_to: 'self' }],
    ['service_tier', 'priority'],
    ['n', 2],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'a' }],
    ['web_search_options', {}],
    ['background', true],
  ])('The member %s is refused by its name.', (name, value) => {
    const asked: JsonObject = { max_tokens: 5, messages: [{ role: 'user', content: 'a' }] }
    for (const [protocol, body] of [
      ['messages', asked],
      ['responses', { input: 'a' } as JsonObject],
    ] as const) {
      const run = () => boundOfNative(model, read(protocol, { ...body, [name]: value }))
      expect(faultOf(run)).toBe(name)
    }
  })

  test.each(['previous_response_id', 'conversation', 'prompt'])('%s', (name) => {
    expect(faultOf(() => read('responses', { input: 'a', [name]: 'x' }))).toBe(name)
  })

  test('and a second limit, another model or another address stay behind.', () => {
    const more = { max_tokens: 1e6, max_completion_tokens: 1e6, models: ['b'], api_base: 'x' }
    const { body, ignored } = nativeRequest(read('responses', { input: 'a', ...more }), {
      model: 'far',
      maxTokens: 5,
    })
    expect(body).toEqual({ model: 'far', max_output_tokens: 5, input: 'a', store: false })
    expect(ignored).toEqual(Object.keys(more).sort())
  })
})

describe('A conversation of many items takes time in proportion to their number', () => {
  const items = (count: number): JsonObject => ({
    input: Array.from({ length: count }, (_, at) => ({
      type: 'function_call',
      call_id: `call_${at}`,
      name: 'f',
      arguments: '{}',
    })),
  })
  const blocks = (count: number): JsonObject => ({
    max_tokens: 5,
    messages: [
      {
        role: 'assistant',
        content: Array.from({ length: count }, (_, at) => ({
          type: 'tool_use',
          id: `toolu_${at}`,
          name: 'f',
          input: {},
        })),
      },
    ],
  })
  const step = { upstream: 'far', model: 'm' }
  const translated = (door: Native['protocol'], body: JsonObject) => {
    const chat = door === 'messages' ? messagesToChat(body) : responsesToChat(body)
    const asked = { model, ...chat, bound: boundOf(model, chat.body), door }
    for (const wire of ['chat', 'messages', 'responses'] as const) forward(asked, step, wire)
  }
  const native = (door: Native['protocol'], body: JsonObject) => {
    const as = read(door, body)
    const asked = { model, native: as, bound: boundOfNative(model, as), door, ignored: [] }
    forward(asked, step, door)
  }
  /** The shortest of a few times, in ms of the processor: other tests run beside this one. */
  const timeOf = (run: () => void): number => {
    const times = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage()
      run()
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    })
    return Math.min(...times)
  }

  test.each([
    [
      'items as they came',
      () => native('responses', items(16_000)),
      () => native('responses', items(32_000)),
    ],
    [
      'items translated',
      () => translated('responses', items(16_000)),
      () => translated('responses', items(32_000)),
    ],
    [
      'blocks as they came',
      () => native('messages', blocks(16_000)),
      () => native('messages', blocks(32_000)),
    ],
    [
      'blocks translated',
      () => translated('messages', blocks(16_000)),
      () => translated('messages', blocks(32_000)),
    ],
  ])('The time grows in proportion to the items: %s.', (_, once, twice) => {
    once()
    const [n, twoN] = [timeOf(once), timeOf(twice)]
    // Twice as many take twice as long, not four times; garbage and neighbours take the rest.
    expect(twoN).toBeLessThan(3 * n + 50)
    // Squares took seconds.
    expect(n).toBeLessThan(500)
  })
})
