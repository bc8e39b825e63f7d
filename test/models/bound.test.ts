import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../src/kernel/canonical.ts'
import { makeIds } from '../../src/kernel/ids.ts'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { boundOf, forwardBody } from '../../src/models/bound.ts'
import { echoModel, embedModel } from '../../src/models/builtins.ts'
import type { Model } from '../../src/models/model.ts'
import { builtinUpstream } from '../../src/models/upstream/builtin.ts'
import { promise } from '../support/promise.ts'

const chat: Model = {
  ...echoModel,
  id: 'acme/small',
  verifiable: 'none',
  maxOutputTokens: 1000,
  overhead: { perMessage: 16, fixed: 64 },
}
const embedding: Model = { ...embedModel, id: 'acme/embed', verifiable: 'none' }
const step = { upstream: 'local', model: 'small' }

const say = (content: Json, more: JsonObject = {}): JsonObject => ({
  messages: [{ role: 'user', content }],
  ...more,
})

/** The field a request is refused for, and the words. */
function refusalOf(model: Model, body: JsonObject): { param?: string; message: string } {
  try {
    boundOf(model, body)
  } catch (error) {
    if (error instanceof Refusal && error.type === 'invalid_request') {
      return { param: error.detail.param, message: error.message }
    }
    throw error
  }
  throw new Error('it was not refused')
}

const deep = (levels: number): Json => (levels === 0 ? 1 : [deep(levels - 1)])

describe('the bound of a chat', () => {
  test('is the bytes of what is sent and the overhead; the output of all choices', () => {
    const content = 'é漢😀'
    const bytes = Buffer.byteLength(JSON.stringify({ messages: say(content)['messages'], n: 3 }))
    expect(boundOf(chat, say(content, { n: 3, max_tokens: 10 }))).toEqual({
      inputTokens: bytes + 64 + 16,
      outputTokens: 30,
      maxTokens: 10,
      n: 3,
      inputBytes: bytes,
    })
  })

  test('counts tools, functions, formats and everything else that a model reads', () => {
    const text = 'x'.repeat(1000)
    const bodies: JsonObject[] = [
      { tools: [{ type: 'function', function: { name: 'f', description: text } }] },
      { functions: [{ name: 'f', description: text }] },
      { response_format: { type: 'json_schema', json_schema: { name: text } } },
      { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: text } }] }] },
    ]
    for (const more of bodies) {
      expect(boundOf(chat, say('', more)).inputTokens).toBeGreaterThan(1000)
    }
  })

  test('A request without a limit, or with null, gets the limit of its model.', () => {
    expect(boundOf(chat, say('x'))).toMatchObject({ maxTokens: 1000, outputTokens: 1000, n: 1 })
    const nothing = { max_tokens: null, max_completion_tokens: null, n: null, stop: null }
    expect(boundOf(chat, say('x', nothing))).toMatchObject({ maxTokens: 1000, n: 1 })
  })

  test('above the model’s limit is lowered to it, and says so', () => {
    const most = { maxTokens: 1000, outputTokens: 1000, isLowered: true } as const
    expect(boundOf(chat, say('x', { max_tokens: 1001 }))).toMatchObject(most)
    expect(boundOf(chat, say('x', { max_completion_tokens: 2 ** 53 - 1 }))).toMatchObject(most)
    expect(boundOf(chat, say('x', { max_tokens: 1000 }))).not.toHaveProperty('isLowered')
  })

  test('of two limits is the lower', () => {
    const both = { max_tokens: 20, max_completion_tokens: 10 }
    expect(boundOf(chat, say('x', both)).maxTokens).toBe(10)
  })

  test('never falls when a request grows', () => {
    const text = fc.string({ unit: 'binary' })
    const count = fc.integer({ min: 1, max: 1000 })
    const n = fc.integer({ min: 1, max: 128 })
    fc.assert(
      fc.property(text, text, count, count, n, n, (a, b, tokens, moreTokens, m, k) => {
        const less = say(a, { max_tokens: Math.min(tokens, moreTokens), n: Math.min(m, k) })
        const more = say(a + b, { max_tokens: Math.max(tokens, moreTokens), n: Math.max(m, k) })
        const [low, high] = [boundOf(chat, less), boundOf(chat, more)]
        // Two halves of one character take more bytes apart, as escapes, than together.
        const isSplit = /[\ud800-\udbff]$/.test(a) && /^[\udc00-\udfff]/.test(b)
        expect(isSplit || low.inputTokens <= high.inputTokens).toBe(true)
        expect(low.outputTokens).toBeLessThanOrEqual(high.outputTokens)
      }),
    )
  })

  promise`D8 C: The hold covers the most a run can cost.`
  test('holds for whatever the built-in models report', async () => {
    const clock = { now: () => 0, monotonic: () => 0 }
    const ids = makeIds(clock, { bytes: (size) => new Uint8Array(size) })
    const upstream = builtinUpstream({ clock, ids })
    const signal = new AbortController().signal
    const text = fc.string({ unit: fc.constantFrom('a', ' ', 'é', '😀', '\n') })
    const message = fc.record({ role: fc.constantFrom('user', 'system'), content: text })
    const messages = fc.array(message, { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(messages, fc.integer({ min: 1, max: 9 }), async (list, n) => {
        const body: JsonObject = { messages: list, n, max_tokens: 5 }
        const bound = boundOf(echoModel, body)
        const own = forwardBody(
          echoModel,
          body,
          { upstream: 'builtin', model: echoModel.id },
          bound.maxTokens,
        )
        const { usage } = await upstream.complete({ kind: 'chat', account: 'a', body: own, signal })
        const said = usage as { prompt_tokens: number; completion_tokens: number }
        expect(said.prompt_tokens).toBeLessThanOrEqual(bound.inputTokens)
        expect(said.completion_tokens).toBeLessThanOrEqual(bound.outputTokens)
      }),
    )
  })
})

promise`D24`
describe('a chat is refused', () => {
  const message = { role: 'user', content: 'x' }
  const part = (type: string) => say([{ type: 'text', text: 'x' }, { type }])
  const table: [what: string, body: JsonObject, param: string][] = [
    ['without messages', {}, 'messages'],
    ['with an empty list of messages', { messages: [] }, 'messages'],
    ['with 10,001 messages', { messages: new Array(10_001).fill(message) }, 'messages'],
    ['with a message that is text', { messages: ['x'] }, 'messages[0]'],
    ['with a message without a role', { messages: [message, {}] }, 'messages[1].role'],
    ['with content that is a number', say(7), 'messages[0].content'],
    ['with content that is an object', say({ type: 'text', text: 'x' }), 'messages[0].content'],
    ['with an image', part('image_url'), 'messages[0].content[1]'],
    ['with audio', part('input_audio'), 'messages[0].content[1]'],
    ['with a file', part('file'), 'messages[0].content[1]'],
    ['with a part of no type', say([{}]), 'messages[0].content[0]'],
    ['with a part that is text itself', say(['x']), 'messages[0].content[0]'],
    [
      'with a text part that is none',
      say([{ type: 'text', text: 7 }]),
      'messages[0].content[0].text',
    ],
    [
      'with a tool the upstream runs',
      say('x', { tools: [{ type: 'web_search' }] }),
      'tools[0].type',
    ],
    ['with tools that are not a list', say('x', { tools: {} }), 'tools'],
    ['with 17 stops', say('x', { stop: new Array(17).fill('x') }), 'stop'],
    ['with a stop that is a number', say('x', { stop: 7 }), 'stop'],
    ['nested 81 levels deep', say('x', { metadata: deep(80) }), 'metadata'],
    ...[0, -1, 1.5, '10', true, 1e300, Number.POSITIVE_INFINITY].flatMap(
      (value): [string, JsonObject, string][] => [
        [`with max_tokens ${JSON.stringify(value)}`, say('x', { max_tokens: value }), 'max_tokens'],
        [
          `with max_completion_tokens ${JSON.stringify(value)}`,
          say('x', { max_completion_tokens: value }),
          'max_completion_tokens',
        ],
      ],
    ),
    ...[0, -1, 1.5, 129, '1', true].map((n): [string, JsonObject, string] => [
      `with n ${JSON.stringify(n)}`,
      say('x', { n }),
      'n',
    ]),
  ]
  for (const [what, body, param] of table) {
    test(what, () => {
      expect(refusalOf(chat, body).param).toBe(param)
    })
  }

  test('A chat at all its limits is accepted.', () => {
    const most = say(
      [
        { type: 'text', text: 'x' },
        { type: 'refusal', refusal: 'no' },
      ],
      {
        stop: new Array(16).fill('x'),
        n: 128,
        max_tokens: 1000,
        metadata: deep(31),
      },
    )
    expect(boundOf(chat, most).outputTokens).toBe(128_000)
    const messages = new Array(1000).fill({ role: 'assistant', content: null })
    expect(boundOf(chat, { messages }).n).toBe(1)
  })
})

describe('an embedding', () => {
  const all = (input: Json) => boundOf(embedding, { input })

  test('is bounded by its bytes, and says nothing', () => {
    const bytes = Buffer.byteLength(JSON.stringify({ input: ['é', 'x'] }))
    const nothing = { outputTokens: 0, maxTokens: 0, n: 1 }
    expect(all(['é', 'x'])).toEqual({ ...nothing, inputTokens: bytes, inputBytes: bytes })
    expect(all('').outputTokens).toBe(0)
  })

  test('as token numbers is counted, an input or a list of them', () => {
    expect(all([1, 2, 3]).inputTokens).toBe(3)
    expect(all([[1, 2], [3]]).inputTokens).toBe(3)
    const overhead = { perMessage: 10, fixed: 100 }
    expect(boundOf({ ...embedding, overhead }, { input: [[1, 2], [3]] }).inputTokens).toBe(123)
  })

  const table: [what: string, input: Json, param: string][] = [
    ['an empty list', [], 'input'],
    ['a number', 7, 'input'],
    ['an object', {}, 'input'],
    ['2,049 texts', new Array(2049).fill('x'), 'input'],
    ['texts and numbers', ['x', 7], 'input[0]'],
    ['numbers and lists', [7, [7]], 'input[0]'],
    ['an empty list of tokens', [[7], []], 'input[1]'],
    ['negative tokens', [[7, -1]], 'input[0]'],
    ['fractional tokens', [[1.5]], 'input[0]'],
  ]
  for (const [what, input, param] of table) {
    test(`An embedding is refused for ${what}.`, () => {
      expect(refusalOf(embedding, { input }).param).toBe(param)
    })
  }

  test('is refused for its format and dimensions', () => {
    const param = (more: JsonObject) => refusalOf(embedding, { input: 'x', ...more }).param
    expect(param({ encoding_format: 'hex' })).toBe('encoding_format')
    expect(param({ dimensions: 0 })).toBe('dimensions')
    expect(param({ dimensions: '8' })).toBe('dimensions')
  })

  test('as token numbers is refused by a built-in model', () => {
    expect(refusalOf(embedModel, { input: [1, 2] }).param).toBe('input')
    expect(refusalOf(embedModel, { input: [[1, 2]] }).param).toBe('input')
  })
})

describe('what is sent upstream', () => {
  promise`E1 C: No user names an address that we call.`
  test('is the known fields, the step’s model and always a limit', () => {
    const body = say('x', {
      model: 'acme/small',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      seed: null,
      fit: true,
      tags: { a: 'b' },
      web_search_options: {},
    })
    expect(forwardBody(chat, body, step, boundOf(chat, body).maxTokens)).toEqual({
      model: 'small',
      messages: [{ role: 'user', content: 'x' }],
      temperature: 0.5,
      max_tokens: 1000,
    })
  })

  test('names the limit as the client did, and takes a lower one', () => {
    const body = say('x', { max_completion_tokens: 20, max_tokens: 30 })
    expect(forwardBody(chat, body, step, boundOf(chat, body).maxTokens)).toEqual({
      model: 'small',
      messages: [{ role: 'user', content: 'x' }],
      max_completion_tokens: 20,
    })
    expect(forwardBody(chat, body, step, 5)).toMatchObject({ max_completion_tokens: 5 })
  })

  test('leaves out members of a message that have no bound', () => {
    const messages = [{ role: 'user', content: 'x', name: 'a', images: ['…'], audio: { id: 'b' } }]
    expect(forwardBody(chat, { messages }, step, 1000)['messages']).toEqual([
      { role: 'user', content: 'x', name: 'a' },
    ])
  })

  test('has no limit for an embedding', () => {
    const body = { input: 'x', encoding_format: 'base64', max_tokens: 5, tags: {} }
    expect(forwardBody(embedding, body, step, 0)).toEqual({
      model: 'small',
      input: 'x',
      encoding_format: 'base64',
    })
  })
})
