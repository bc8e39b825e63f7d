import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { adapt, adaptHeaders, type Dialect } from '../../../src/models/protocols/dialect.ts'
import type { Protocol } from '../../../src/models/protocols/protocol.ts'
import { factsIn } from '../../../src/models/protocols/refused-member.ts'
import { promise } from '../../support/promise.ts'

type Refusal = { message: string; param?: string; code?: string }

const learn = (body: JsonObject, refusal: Refusal, protocol: Protocol = 'chat') =>
  factsIn({ ...refusal, isRelayed: true }, { protocol, body, dialect: {} })

const hello = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }] }

promise`S5`
describe('what a refusal teaches', () => {
  const members: [body: JsonObject, refusal: Refusal, learned: Dialect][] = [
    [
      { max_tokens: 5 },
      {
        message:
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      },
      { refusedLimits: ['max_tokens'] },
    ],
    [
      { max_completion_tokens: 5 },
      { message: 'max_completion_tokens: Extra inputs are not permitted' },
      { refusedLimits: ['max_completion_tokens'] },
    ],
    [{}, { message: 'json: unknown field "stream_options"' }, { without: ['stream_options'] }],
    [
      {},
      { message: 'stream_options.include_usage: extra_forbidden' },
      { without: ['stream_options'] },
    ],
    [
      { parallel_tool_calls: false },
      {
        message: '[unknown_parameter] Unrecognized request argument supplied: parallel_tool_calls',
      },
      { without: ['parallel_tool_calls'] },
    ],
    [
      { seed: 1, user: 'u' },
      { message: 'property "seed" is unsupported, did you mean "send"?' },
      { without: ['seed'] },
    ],
    [
      { user: 'u' },
      { message: 'Extra inputs are not permitted', param: 'user' },
      { without: ['user'] },
    ],
    [
      { temperature: 0.2 },
      {
        message:
          "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        param: 'temperature',
      },
      { without: ['temperature'] },
    ],
    [
      { reasoning_effort: 'minimal' },
      {
        message:
          "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low' and 'high'.",
      },
      { withoutValues: { reasoning_effort: ['minimal'] } },
    ],
    [
      { logit_bias: {}, top_logprobs: 2 },
      { message: 'Unrecognized request arguments supplied: logit_bias, top_logprobs' },
      { without: ['logit_bias', 'top_logprobs'] },
    ],
    [
      { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'b' }] },
      {
        message:
          "'messages.0' : for 'role:assistant' the following must be satisfied[('messages.0' : property 'reasoning_content' is unsupported)]",
      },
      { without: ['messages.reasoning_content'] },
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: {} }] }] },
      { message: 'Extra inputs are not permitted', param: 'messages[0].content[0].cache_control' },
      { without: ['messages.cache_control'] },
    ],
    [
      { tools: [{ type: 'function', function: { name: 'f', strict: true } }] },
      { message: 'tools.0.function.strict: unknown field' },
      { without: ['tools.strict'] },
    ],
    [
      { messages: [{ role: 'developer', content: 'a' }] },
      { message: 'unknown variant `developer`, expected one of `system`, `user`' },
      { developer: false },
    ],
    [
      { user: 'u'.repeat(80) },
      {
        message:
          "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.",
        param: 'user',
      },
      { userMax: 64 },
    ],
    [
      { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] },
      { message: 'Tool call id was call_abcdefgh but must be a-z, A-Z, 0-9, with a length of 9.' },
      { callIds: { most: 9, isExact: true } },
    ],
  ]
  test.each(members)('The body %p learns from a refusal.', (body, refusal, learned) => {
    expect(learn({ ...hello, ...body }, refusal)).toEqual(learned)
  })

  const nothing: [body: JsonObject, message: string][] = [
    [{ temperature: 9 }, "Invalid 'temperature': must be between 0 and 2."],
    [{ temperature: -1 }, 'temperature must be non-negative'],
    [{ max_tokens: 99_999 }, 'max_tokens is too large: 99999. This model supports at most 16384.'],
    [{ top_p: 2 }, 'top_p: Input should be less than or equal to 1'],
    [{}, 'messages: this conversation is not supported'],
    [{}, "The model 'm' does not exist or is not supported."],
    [{ tools: [] }, 'tools is not supported with this model'],
    [{ stop: ['x'] }, "Unsupported parameter: 'stop' is not supported with this model."],
    [{ response_format: {} }, "'response_format' is not supported"],
    [{ n: 2 }, 'Unrecognized request argument supplied: n'],
    [{ service_tier: 'priority' }, 'service_tier is not supported'],
    [{ user: 'u' }, 'This user is not allowed to do that, and the seed is unknown.'],
  ]
  test.each(nothing)(
    'A bad value or a part that counts teaches nothing: %p %s',
    (body, message) => {
      expect(learn({ ...hello, ...body }, { message })).toBeUndefined()
    },
  )

  test('Betas that a server names are left out, and all of them where it names none.', () => {
    const named =
      'Unexpected value(s) `context-management-2025-06-27` for the `anthropic-beta` header.'
    expect(learn(hello, { message: named }, 'messages')).toEqual({
      withoutBetas: ['context-management-2025-06-27'],
    })
    expect(learn(hello, { message: 'invalid beta flag' }, 'messages')).toEqual({
      withoutBetas: ['*'],
    })
    const headers = { 'anthropic-version': '1', 'anthropic-beta': 'a-2025-01-01, b-2025-01-01' }
    expect(adaptHeaders({ withoutBetas: ['b-2025-01-01'] }, headers)).toEqual({
      'anthropic-version': '1',
      'anthropic-beta': 'a-2025-01-01',
    })
    expect(adaptHeaders({ withoutBetas: ['*'] }, headers)).toEqual({ 'anthropic-version': '1' })
  })

  test('A server of Messages always has its limit.', () => {
    const refusal = { message: 'max_tokens: Extra inputs are not permitted' }
    expect(learn({ ...hello, max_tokens: 5 }, refusal, 'messages')).toBeUndefined()
  })

  test('A long refusal is read in linear time.', () => {
    const start = performance.now()
    const message = 'unsupported '.repeat(160)
    for (let i = 0; i < 100; i++) learn({ ...hello, seed: 1 }, { message })
    expect(performance.now() - start).toBeLessThan(500)
  })
})

describe('a request in the dialect of a server', () => {
  const adapted = (body: JsonObject, dialect: Dialect, protocol: Protocol = 'chat') =>
    adapt(protocol, dialect, { ...hello, ...body })

  test('A limit goes by the name that the server takes, or not at all.', () => {
    const limited = { max_tokens: 5 }
    expect(adapted(limited, {}).body).toEqual({ ...hello, max_tokens: 5 })
    const renamed = adapted(limited, { refusedLimits: ['max_tokens'] })
    expect(renamed).toEqual({ body: { ...hello, max_completion_tokens: 5 }, dropped: [] })
    const none = adapted(limited, { refusedLimits: ['max_tokens', 'max_completion_tokens'] })
    expect(none).toEqual({ body: hello, dropped: ['max_tokens'] })
  })

  test('Newer models of OpenAI get the newer name of the limit.', () => {
    for (const model of ['gpt-5', 'openai/gpt-5.5-mini', 'o3', 'o4-mini', 'azure:gpt-12']) {
      expect(adapted({ model, max_tokens: 5 }, {}).body).toHaveProperty('max_completion_tokens', 5)
    }
    for (const model of ['gpt-4.1', 'gpt-oss-120b', 'olmo-2', 'foo3', 'qwen3']) {
      expect(adapted({ model, max_tokens: 5 }, {}).body).toHaveProperty('max_tokens', 5)
    }
  })

  test('An empty list of tools goes on as none, with what chooses among them.', () => {
    const body = { tools: [], tool_choice: 'auto', parallel_tool_calls: true }
    expect(adapted(body, {}).body).toEqual(hello)
  })

  test('Ids of calls are shortened alike in a call and in its result, and nowhere else.', () => {
    const id = `call_${'x'.repeat(90)}`
    const messages: JsonObject[] = [
      {
        role: 'assistant',
        tool_calls: [
          { id, type: 'function', function: { name: 'f', arguments: `{"id":"${id}"}` } },
        ],
      },
      { role: 'tool', tool_call_id: id, content: id },
      { role: 'tool', tool_call_id: 'short', content: '' },
    ]
    const { body } = adapted({ messages }, { callIds: { most: 40, isExact: false } })
    const [call, result, other] = body['messages'] as JsonObject[]
    const [made] = (call?.['tool_calls'] ?? []) as JsonObject[]
    expect(made?.['id']).toHaveLength(40)
    expect(result?.['tool_call_id']).toBe(made?.['id'] ?? null)
    expect(made?.['function']).toEqual({ name: 'f', arguments: `{"id":"${id}"}` })
    expect(result?.['content']).toBe(id)
    expect(other?.['tool_call_id']).toBe('short')
    expect(messages[1]?.['tool_call_id']).toBe(id)
  })

  test('Members inside are left out of messages and parts, but not out of what tools say.', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'a', cache_control: { a: 1 } }] },
    ]
    const tools = [
      {
        type: 'function',
        function: { name: 'f', parameters: { cache_control: 1 } },
        cache_control: 2,
      },
    ]
    const { body, dropped } = adapted(
      { messages, tools },
      { without: ['messages.cache_control', 'tools.cache_control'] },
    )
    expect(body['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'a' }] }])
    expect(body['tools']).toEqual([
      { type: 'function', function: { name: 'f', parameters: { cache_control: 1 } } },
    ])
    expect(dropped).toEqual(['messages.cache_control', 'tools.cache_control'])
  })
})
