import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { modelServer } from '../../../src/models/upstream/model-server.ts'
import {
  type FailureReason,
  plainChunks,
  UpstreamFailure,
} from '../../../src/models/upstream/upstream.ts'
import type { UpstreamKind } from '../../../src/models/upstream/wire-protocol.ts'

/** What the server answers with a status of 200. */
let body = ''
let server: Server
let url = ''

beforeAll(async () => {
  server = createServer((_, response) => {
    response.writeHead(200)
    response.end(body)
  })
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const { signal } = new AbortController()

async function ask(kind: UpstreamKind, isStream: boolean, isNative = false) {
  const upstream = modelServer({ id: 'odd', baseUrl: url, kind, apiKey: 'sk-odd-secret' })
  const call = {
    kind: 'chat',
    account: 'a',
    body: { model: 'm' },
    run: '1',
    isNative,
    signal,
  } as const
  const chunks: JsonObject[] = []
  try {
    if (!isStream) return { chunks: [await upstream.complete(call)], failure: undefined }
    for await (const batch of await upstream.stream(call)) chunks.push(...plainChunks(batch))
    return { chunks, failure: undefined }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return { chunks, failure: error }
  }
}

const textIn = (chunks: unknown): string =>
  [...JSON.stringify(chunks).matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('')

const hello =
  '{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}'
const said = (...events: string[]): string => events.map((one) => `data: ${one}\n\n`).join('')

describe('a failure told inside of a 200', () => {
  const table: [what: string, told: string, reason: FailureReason, status: number | undefined][] = [
    ['a code', '{"error":{"message":"no such tool","code":400}}', 'rejected', 400],
    ['a code as text', '{"error":{"message":"no such tool","code":"422"}}', 'rejected', 422],
    ['a type', '{"error":{"message":"bad","type":"BadRequestError","code":null}}', 'rejected', 400],
    ['a status', '{"error":{"message":"later","status":503}}', 'busy', 503],
    ['the word for it', '{"error":{"status":"RESOURCE_EXHAUSTED","message":"quota"}}', 'busy', 429],
    [
      'Anthropic’s',
      '{"type":"error","error":{"type":"overloaded_error","message":"x"}}',
      'busy',
      529,
    ],
    ['a flat one', '{"object":"error","message":"dead","code":500}', 'error', 500],
    ['without a name', '{"code":401,"message":"no key"}', 'denied', 401],
    ['of FastAPI', '{"detail":"Not Found"}', 'error', undefined],
    [
      'of MiniMax',
      '{"choices":null,"base_resp":{"status_code":1008,"status_msg":"x"}}',
      'error',
      undefined,
    ],
    ['a text', '{"error":"Error code: 400 - seed is not taken"}', 'rejected', 400],
    [
      'in a choice',
      '{"choices":[{"index":0,"delta":{},"error":{"code":429,"message":"x"}}]}',
      'busy',
      429,
    ],
    [
      'a finish',
      '{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}',
      'error',
      undefined,
    ],
    [
      'a length',
      '{"error":{"message":"This model\'s maximum context length is 8 tokens","code":"400"}}',
      'context',
      400,
    ],
  ]
  test.each(table)('is one with its status: %s', async (_, told, reason, status) => {
    const field = told.includes('choices') ? [] : [`error: ${told}\n\n`]
    for (const frames of [said(told), said(told, '[DONE]'), told, ...field]) {
      body = frames
      const { chunks, failure } = await ask('openai', true)
      expect([chunks, failure?.reason, failure?.status]).toEqual([[], reason, status])
    }
    body = told.replace('"delta"', '"message"')
    const { failure } = await ask('openai', false)
    expect([failure?.reason, failure?.status]).toEqual([reason, status])
  })

  test('comes after what was said before it, and alone where that was a role', async () => {
    body = said(hello, '{"error":{"message":"gone","code":503}}')
    const late = await ask('openai', true)
    expect([textIn(late.chunks), late.failure?.reason]).toEqual(['Hel', 'busy'])
    body = said(hello.replace('Hel', ''), '{"error":{"message":"no","code":400}}')
    const early = await ask('openai', true)
    expect([early.chunks, early.failure?.reason]).toEqual([[], 'rejected'])
  })

  test('says when to come again, in words or in a member', async () => {
    for (const [told, ms] of [
      ['{"error":{"code":429,"message":"Please try again in 20s."}}', 20_000],
      ['{"error":{"code":429,"message":"x","retry_after":3}}', 3000],
      ['{"error":{"code":429,"message":"x","metadata":{"headers":{"Retry-After":"7"}}}}', 7000],
      ['{"error":{"code":429,"message":"x","details":[{"retryDelay":"34s"}]}}', 34_000],
    ] as const) {
      body = said(told)
      expect((await ask('openai', true)).failure?.retryAfterMs).toBe(ms)
    }
  })

  test('keeps the words of its server, without its secret', async () => {
    body = said('{"error":{"message":"key sk-odd-secret has no temperature","code":400}}')
    const { failure } = await ask('openai', true)
    expect(failure?.words?.message).toContain('has no temperature')
    expect(failure?.words?.message).not.toContain('sk-odd-secret')
  })

  test.each(['anthropic', 'responses'] as const)(
    'is one on %s too, as it is and translated',
    async (kind) => {
      const response =
        '{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}}'
      body =
        kind === 'anthropic'
          ? 'event: error\ndata: {"error":{"type":"rate_limit_error","message":"x"}}\n\n'
          : `data: {"type":"response.failed","response":${response}}\n\n`
      for (const isNative of [false, true]) {
        const { failure } = await ask(kind, true, isNative)
        expect([failure?.reason, failure?.status]).toEqual(['busy', 429])
      }
    },
  )
})

describe('ends of streams', () => {
  test.each([
    ['neither finish nor [DONE]', said(hello), 'cut'],
    ['[DONE] without a finish', said(hello, '[DONE]'), undefined],
    ['[DONE] alone', said('[DONE]'), 'error'],
    [
      'usage and [DONE] alone',
      said('{"choices":[],"usage":{"prompt_tokens":1}}', '[DONE]'),
      'error',
    ],
    ['a page', '<html><body>data: {}</body></html>', 'error'],
    ['nothing', '', 'error'],
    ['a word of null as finish', said(hello.replace('null', '"null"')), 'cut'],
  ])('A stream ends with %s.', async (_, text, reason) => {
    body = text
    expect((await ask('openai', true)).failure?.reason).toBe(reason as never)
  })
})

describe('an answer in the place of a stream, and a stream in that of an answer', () => {
  const message = { role: 'assistant', content: 'Hello' }
  const chat = {
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  }
  const claude = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
  }
  const item = { id: 'i', type: 'message', role: 'assistant', content: 'Hello' }
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item] }
  const wholes: [UpstreamKind, object][] = [
    ['openai', chat],
    ['anthropic', claude],
    ['responses', response],
  ]
  test.each(wholes)(
    'A whole one of %s is a stream, also over several lines.',
    async (kind, whole) => {
      for (const text of [JSON.stringify(whole), JSON.stringify(whole, null, 2)]) {
        body = text
        const { chunks, failure } = await ask(kind, true)
        expect([failure, textIn(chunks)]).toEqual([undefined, 'Hello'])
        expect(JSON.stringify(chunks)).toContain('"finish_reason":"stop"')
        const native = await ask(kind, true, kind !== 'openai')
        expect([native.failure, textIn(native.chunks)]).toEqual([undefined, 'Hello'])
      }
    },
  )

  test.each(wholes)('Half of one of %s is none.', async (kind, whole) => {
    for (const isStream of [false, true]) {
      body = JSON.stringify(whole).slice(0, -9)
      expect((await ask(kind, isStream)).failure).toBeInstanceOf(UpstreamFailure)
    }
  })

  test('Events that are cut do not answer a plain request, and none is used.', async () => {
    body = said(hello)
    expect((await ask('openai', false)).failure?.reason).toBe('error')
    body = said(hello, '{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}')
    const { chunks } = await ask('openai', false)
    expect(chunks[0]).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
    })
  })

  test('A content in parts is text and reasoning, whole and in a stream.', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'Hel' },
      { type: 'brand_new', text: 'lo' },
      { type: 'reference', reference_ids: [1] },
    ]
    const expected = {
      content: 'Hello',
      reasoning_content: 'hm',
      content_parts: [{ type: 'reference', reference_ids: [1] }],
    }
    body = JSON.stringify({
      choices: [{ message: { ...message, content: parts }, finish_reason: 'stop' }],
    })
    const whole = await ask('openai', false)
    expect(whole.chunks[0]).toMatchObject({ choices: [{ message: expected }] })
    body = said(JSON.stringify({ choices: [{ delta: { content: parts }, finish_reason: 'stop' }] }))
    const { chunks } = await ask('openai', true)
    expect(chunks[0]).toMatchObject({ choices: [{ delta: { role: 'assistant', ...expected } }] })
  })

  test('A message beside deltas that repeats all that came is left out.', async () => {
    const both = (delta: string, all: string, finish: string | null): string =>
      JSON.stringify({
        choices: [
          { index: 0, delta: { content: delta }, message: { content: all }, finish_reason: finish },
        ],
      })
    body = said(
      both('Hel', 'Hel', null),
      both('lo', 'Hello', null),
      both('', 'Hello', 'stop'),
      '[DONE]',
    )
    const { chunks } = await ask('openai', true)
    expect([textIn(chunks), JSON.stringify(chunks).includes('message')]).toEqual(['Hello', false])
  })
})
