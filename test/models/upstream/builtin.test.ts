import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeIds } from '../../../src/kernel/ids.ts'
import { builtinUpstream } from '../../../src/models/upstream/builtin.ts'
import {
  type JsonObject,
  plainChunks,
  UpstreamFailure,
} from '../../../src/models/upstream/upstream.ts'
import { outcomeOf } from '../../support/rejection.ts'

const clock = { now: () => 1_700_000_000_123, monotonic: () => 0 }
const ids = makeIds(clock, { bytes: (count) => new Uint8Array(count) })
const upstream = builtinUpstream({ clock, ids })
const signal = new AbortController().signal

const chat = (content: string, more: JsonObject = {}): JsonObject => ({
  model: 'counterfoil/echo-1',
  messages: [{ role: 'user', content }],
  ...more,
})

const complete = (body: JsonObject) =>
  upstream.complete({ kind: 'chat', account: 'a', body, signal })

async function streamed(body: JsonObject): Promise<JsonObject[]> {
  const chunks: JsonObject[] = []
  for await (const batch of await upstream.stream({ kind: 'chat', account: 'a', body, signal })) {
    chunks.push(...plainChunks(batch))
  }
  return chunks
}

async function embed(input: string | string[], more: JsonObject = {}) {
  const body = { model: 'counterfoil/embed-1', input, ...more }
  return await upstream.complete({ kind: 'embedding', account: 'a', body, signal })
}

async function vectorOf(text: string): Promise<number[]> {
  const answer = (await embed(text)) as { data: [{ embedding: number[] }] }
  return answer.data[0].embedding
}

async function cosine(a: string, b: string): Promise<number> {
  const [left, right] = [await vectorOf(a), await vectorOf(b)]
  return left.reduce((sum, value, i) => sum + value * (right[i] ?? 0), 0)
}

describe('counterfoil/echo-1', () => {
  test('answers as OpenAI does, and counts words', async () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'not this' },
      { role: 'assistant', content: null },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hello ' },
          { type: 'text', text: 'world' },
        ],
      },
    ]
    expect(await complete({ ...chat(''), messages, tools: [{ type: 'function' }] })).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-z]{26}$/),
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'counterfoil/echo-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hello world', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 },
    })
  })

  test('streams the role first, a word a chunk, the reason, then the usage', async () => {
    const chunks = await streamed(chat('a b', { n: 2 }))
    const said = chunks.map(({ choices, usage }) => usage ?? choices)
    const choice = (index: number, delta: JsonObject, finish_reason: string | null = null) => [
      { index, delta, logprobs: null, finish_reason },
    ]
    expect(said).toEqual([
      choice(0, { role: 'assistant', content: '' }),
      choice(1, { role: 'assistant', content: '' }),
      choice(0, { content: 'a' }),
      choice(1, { content: 'a' }),
      choice(0, { content: ' b' }),
      choice(1, { content: ' b' }),
      choice(0, {}, 'stop'),
      choice(1, {}, 'stop'),
      { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 },
    ])
    expect(chunks.every(({ object }) => object === 'chat.completion.chunk')).toBe(true)
  })

  test('max_tokens and max_completion_tokens cut it with the reason length', async () => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      expect(await complete(chat('a b c', { [field]: 2 }))).toMatchObject({
        choices: [{ message: { content: 'a b' }, finish_reason: 'length' }],
        usage: { completion_tokens: 2 },
      })
      expect(await complete(chat('a b ', { [field]: 2 }))).toMatchObject({
        choices: [{ message: { content: 'a b ' }, finish_reason: 'stop' }],
      })
    }
  })

  test('says at most 4,096 words', async () => {
    const answer = await complete(chat('x '.repeat(5000)))
    expect(answer).toMatchObject({ usage: { prompt_tokens: 5000, completion_tokens: 4096 } })
  })

  test('empty text is valid and says nothing', async () => {
    expect(await complete(chat(''))).toMatchObject({
      choices: [{ message: { content: '' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    })
    expect(await streamed({ model: 'counterfoil/echo-1', messages: [] })).toHaveLength(3)
  })

  test('the words of a stream joined are the text, and as many as the usage says', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'é', '😀', ' ', '\n', '\t', '\u00a0', '.'),
    })
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const chunks = await streamed(chat(content))
        const deltas = chunks.slice(1, -2).map((chunk) => {
          const [choice] = chunk['choices'] as [{ delta: { content: string } }]
          return choice.delta.content
        })
        expect(deltas.join('')).toBe(content)
        expect(chunks.at(-1)).toMatchObject({ usage: { completion_tokens: deltas.length } })
      }),
    )
  })

  test('an abort is honoured between batches', async () => {
    const caller = new AbortController()
    const body = chat('word '.repeat(4000))
    const stream = await upstream.stream({
      kind: 'chat',
      account: 'a',
      body,
      signal: caller.signal,
    })
    let count = 0
    const work = (async () => {
      for await (const batch of stream) {
        count += batch.length
        setImmediate(() => caller.abort())
      }
    })()
    expect(await outcomeOf(work)).toThrow(new UpstreamFailure('aborted'))
    expect(count).toBeLessThan(4000)
  })

  test('no other model runs here', async () => {
    const rejected = new UpstreamFailure('rejected', { status: 404 })
    expect(await outcomeOf(complete({ model: 'counterfoil/embed-1', messages: [] }))).toThrow(
      rejected,
    )
    const body = { model: 'counterfoil/echo-1', input: 'a' }
    expect(
      await outcomeOf(upstream.complete({ kind: 'embedding', account: 'a', body, signal })),
    ).toThrow(rejected)
  })
})

describe('counterfoil/embed-1', () => {
  test('gives 256 numbers of unit length an input, in order, and counts words', async () => {
    const answer = await embed(['hello wide world', 'x', ''])
    expect(answer).toMatchObject({
      object: 'list',
      model: 'counterfoil/embed-1',
      data: [{ object: 'embedding', index: 0 }, { index: 1 }, { index: 2 }],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    })
    for (const text of ['hello wide world', 'x', '', '  ', '!?', '漢字', '\ud800']) {
      const vector = await vectorOf(text)
      expect(vector).toHaveLength(256)
      expect(Math.hypot(...vector)).toBeCloseTo(1, 6)
    }
  })

  test('base64 is the same numbers as little-endian 32-bit floats', async () => {
    const answer = (await embed('hello', { encoding_format: 'base64' })) as {
      data: [{ embedding: string }]
    }
    const bytes = Buffer.from(answer.data[0].embedding, 'base64')
    const numbers = Array.from({ length: 256 }, (_, i) => bytes.readFloatLE(i * 4))
    expect(numbers).toEqual(await vectorOf('hello'))
  })

  test('the same text is the same vector; case, order and punctuation do not matter', async () => {
    expect(await vectorOf('Pay the invoice')).toEqual(await vectorOf('Pay the invoice'))
    expect(await cosine('Pay the invoice!', 'the invoice: pay')).toBeCloseTo(1, 6)
  })

  test('the more words are shared, the nearer', async () => {
    const query = 'how do I rotate the api key of my agent'
    const near = await cosine(query, 'rotate the api key of an agent')
    const some = await cosine(query, 'the price of a key')
    const none = await cosine(query, 'bananas ripen faster beside apples')
    expect(near).toBeGreaterThan(some)
    expect(some).toBeGreaterThan(none)
    expect(Math.abs(none)).toBeLessThan(0.25)
  })

  test('every machine gets the same bits', async () => {
    const hasher = new Bun.CryptoHasher('sha256')
    for (const text of ['', 'hello world', 'Ünïcode 漢字 and again and again']) {
      hasher.update(new Float32Array(await vectorOf(text)))
    }
    expect(hasher.digest('hex')).toMatchInlineSnapshot(
      `"7a17332d94e98237b3b02ea2a6f5b92e202a9135837ec0ffb4f7d7c73997c792"`,
    )
  })

  test('numbers of tokens and other dimensions are refused', async () => {
    const rejected = new UpstreamFailure('rejected', { status: 400 })
    expect(await outcomeOf(embed('a', { dimensions: 8 }))).toThrow(rejected)
    const body = { model: 'counterfoil/embed-1', input: [1, 2] }
    expect(
      await outcomeOf(upstream.complete({ kind: 'embedding', account: 'a', body, signal })),
    ).toThrow(rejected)
  })
})
