import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../src/kernel/canonical.ts'
import { fromHex, toHex } from '../../src/kernel/hex.ts'
import { inParts } from '../../src/models/free-members.ts'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { Collector, readAnswer } from '../../src/runs/answer.ts'
import { readingsOf } from '../../src/runs/saved-answer.ts'
import { commit } from '../../src/verify/commitment.ts'
import {
  chunkOf,
  eventsOf,
  expectSettled,
  lastRun,
  modelToml,
  receiptIdOf,
  upstreamToml,
} from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const chunk = (delta: JsonObject, beside: JsonObject = {}): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason: null, ...beside }],
})

function streamed(...chunks: JsonObject[]) {
  const collector = new Collector()
  for (const one of chunks) collector.addChunk(one)
  return collector.answer()
}

const whole = (message: JsonObject, beside: JsonObject = {}) =>
  readAnswer({ choices: [{ index: 0, message, finish_reason: null, ...beside }] })

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

describe('a member that no protocol of ours names', () => {
  const said: [what: string, member: string, value: Json][] = [
    ['images', 'images', [image]],
    ['annotations', 'annotations', [{ type: 'url_citation', url: 'https://example' }]],
    ['sound', 'audio', { id: 'a', data: 'AAAA', transcript: 'hm' }],
    ['any object', 'extra_content', { google: { thought_signature: 'c2ln' } }],
    ['any text', 'channel', 'analysis'],
    ['any number', 'score', 0.5],
    ['reasoning', 'reasoning', 'so it is'],
    ['a refusal', 'refusal', 'I will not'],
    ['calls in another form than a list', 'tool_calls', 'none'],
  ]
  test.each(said)('%s: counted, and committed to alike, streamed or whole', (_, name, value) => {
    const inWhole = whole({ role: 'assistant', content: 'x', [name]: value })
    const inStream = streamed(chunk({ role: 'assistant', content: 'x' }), chunk({ [name]: value }))
    const message = { role: 'assistant', content: 'x', [name]: value }
    expect(inWhole.choices).toEqual([{ index: 0, message, finish_reason: null }] as never)
    expect(inStream.choices).toEqual(inWhole.choices)
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    expect(inWhole.outputBytes).toBeGreaterThanOrEqual(1 + Buffer.byteLength(text))
    expect(inStream.outputBytes).toBe(inWhole.outputBytes)
    const beside = whole({ role: 'assistant', content: 'x' }, { [`x_${name}`]: value })
    expect(beside.choices[0]?.[`x_${name}`]).toEqual(value)
    expect(beside.outputBytes).toBeGreaterThanOrEqual(1 + Buffer.byteLength(text))
  })

  test('pieces of text are joined, lists appended, equal values one, and others listed', () => {
    const { choices, outputBytes } = streamed(
      chunk({ note: 'a', list: [1] }, { filter: { safe: true } }),
      chunk({ note: 'b', list: [2, 3] }, { filter: { safe: true } }),
      chunk({ note: 'c' }, { filter: { safe: false } }),
    )
    expect(choices[0]).toMatchObject({
      message: { note: 'abc', list: [1, 2, 3] },
      filter: [{ safe: true }, { safe: false }],
    })
    const names = 'note'.length + 'list'.length + 'filter'.length
    const pieces = 'abc[1][2,3]{"safe":true}{"safe":false}'.length
    expect(outputBytes).toBe(names + pieces)
  })

  test('a content in parts is counted, committed to, and keeps its order beside text', () => {
    const thinking = [{ type: 'thinking', thinking: 'hm' }]
    const { choices, outputBytes } = streamed(
      chunk({ content: 'be' }),
      chunk({ content: 'fore' }),
      chunk({ content: thinking }),
      chunk({ content: 'after' }),
    )
    expect(choices[0]?.message.content).toEqual(['before', thinking, 'after'])
    expect(outputBytes).toBe('beforehmafter'.length)
  })

  test('details of reasoning count by their texts, and once where their text stands beside', () => {
    const details = [{ type: 'reasoning.text', text: 'hm so', index: 0, format: 'any' }]
    const seal = { type: 'reasoning.encrypted', data: 'AAAA' }
    const bytes = (message: JsonObject) => whole({ content: 'x', ...message }).outputBytes
    expect(bytes({ reasoning_details: details })).toBe('xhm so'.length)
    expect(bytes({ reasoning_details: [...details, seal] })).toBe('xhm soAAAA'.length)
    expect(bytes({ reasoning_details: details, reasoning: 'hm so' })).toBe('xhm so'.length)
    expect(bytes({ reasoning: 'hm so', reasoning_content: 'hm so' })).toBe('xhm so'.length)
    const sealed = { ...details[0], signature: 'c'.repeat(400) }
    expect(bytes({ reasoning_details: [sealed] })).toBe('xhm so'.length)
    const long = { ...details[0], signature: 'c'.repeat(17_000) }
    expect(bytes({ reasoning_details: [long] })).toBe('xhm so'.length + 17_000)
  })

  test('members of a call count too', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const more = { ...call, extra: { signature: 'c2ln' }, function: { ...call.function, x: [1] } }
    const plain = whole({ content: null, tool_calls: [call] })
    const rich = whole({ content: null, tool_calls: [more] })
    expect(rich.choices[0]?.message['tool_calls']).toEqual([more])
    expect(rich.outputBytes - plain.outputBytes).toBe('{"signature":"c2ln"}[1]'.length)
  })

  test('what is empty, names or repeats is not output, and changes no commitment', () => {
    const empty = { refusal: null, annotations: [], audio: null, reasoning: '', extra: {} }
    const beside = { logprobs: null, stop_reason: null, finish_reason: 'stop', filter: {} }
    const { choices, outputBytes } = whole({ role: 'assistant', content: 'x', ...empty }, beside)
    const message = { role: 'assistant', content: 'x' }
    expect(choices).toEqual([{ index: 0, message, finish_reason: 'stop' }] as never)
    expect(outputBytes).toBe(1)
  })

  test('logprobs are committed to and not counted', () => {
    const content = (token: string) => ({ content: [{ token, logprob: -1 }], refusal: null })
    const { choices, outputBytes } = streamed(
      chunk({ content: 'a' }, { logprobs: content('a') }),
      chunk({ content: 'b' }, { logprobs: content('b') }),
    )
    const logprobs = { content: [...content('a').content, ...content('b').content] }
    expect(choices[0]?.['logprobs']).toEqual(logprobs)
    expect(outputBytes).toBe(2)
  })

  test('a name, a role or an id that is too long to be one is output', () => {
    const long = 'x'.repeat(65)
    expect(whole({ role: long, content: null }).outputBytes).toBe(65)
    expect(whole({ content: null }, { finish_reason: long }).outputBytes).toBe(65)
    expect(whole({ content: null, tool_calls: [{ id: long }] }).outputBytes).toBe(65)
    expect(whole({ content: null }, { index: 'text' }).outputBytes).toBeGreaterThan(4)
  })

  test('anything added is counted by at least its bytes', () => {
    const text = fc.string({ minLength: 1, maxLength: 40 }).filter((one) => one !== '__proto__')
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
    const known = new Set(['role', 'index', 'finish_reason', 'logprobs', 'delta', 'message'])
    fc.assert(
      fc.property(text, value, fc.boolean(), (name, added, isBeside) => {
        fc.pre(!known.has(name) && !['tool_calls', 'function_call', ...inParts].includes(name))
        const plain = whole({ content: 'x' })
        const more = { [name]: added }
        const one = isBeside ? whole({ content: 'x' }, more) : whole({ content: 'x', ...more })
        const said = typeof added === 'string' ? added : JSON.stringify(added)
        const isEmpty = ['null', '""', '[]', '{}', ''].includes(said)
        const least = isEmpty ? 0 : Buffer.byteLength(said)
        expect(one.outputBytes - plain.outputBytes).toBeGreaterThanOrEqual(least)
      }),
    )
  })
})

describe('an answer with unknown members', () => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let secret: string
  let frames: string[] = []
  let body: JsonObject = {}

  beforeAll(async () => {
    stub = await startStubUpstream({
      handler: (call, response) => {
        response.end(call.body['stream'] === true ? frames.join('') : JSON.stringify(body))
      },
    })
    w = await world({
      toml:
        upstreamToml('stub', stub.url) +
        modelToml('stub/any', '"stub:any"') +
        modelToml('stub/three', '"stub:any"', 'bytes_per_token = 2.5'),
    })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const ask = (more: object = {}) => {
    const json = { model: 'stub/any', messages: [{ role: 'user', content: 'hi' }], ...more }
    return w.call('/v1/chat/completions', { key: secret, json })
  }
  const outputUnits = async () =>
    (await lastRun(w)).lines.find(({ meter }) => meter === 'output')?.quantity

  test('streamed, relayed as they are, counted where it breaks off, and committed to', async () => {
    const details = [{ type: 'reasoning.text', text: 'hm' }]
    frames = [chunkOf({ content: 'x' }), chunkOf({ images: [image], reasoning_details: details })]
    const events = eventsOf(await (await ask({ stream: true })).text())
    expect(JSON.parse(events[1] ?? '').choices[0].delta.images).toEqual([image])
    const run = await lastRun(w)
    expect([run.outcome, run.usageSource]).toEqual(['partial', 'counted'])
    const counted = `ximages${JSON.stringify([image])}hm`
    expect(await outputUnits()).toBe(Math.ceil(counted.length / 4))
    const message = { role: 'assistant', content: 'x', images: [image], reasoning_details: details }
    const id = await receiptIdOf(w, secret, run.id)
    const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
    const salt = fromHex(file.disclosures.output.salt) ?? new Uint8Array()
    const choices = [{ index: 0, message, finish_reason: null }]
    expect(toHex(commit('output/v1', salt, choices))).toBe(file.receipt.content.output)
  })

  test('as a client saved it, whole or as a stream, is what its receipt commits to', async () => {
    const message = { role: 'assistant', content: 'xy', refusal: null, images: [image, image] }
    body = { choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }] }
    frames = [
      chunkOf({ content: 'x', images: [image] }),
      chunkOf({ content: 'y', images: [image] }),
      chunkOf({}, 'stop'),
      'data: [DONE]\n\n',
    ]
    for (const stream of [true, false]) {
      const text = await (await ask({ stream })).text()
      const id = await receiptIdOf(w, secret, (await lastRun(w)).id)
      const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
      const salt = fromHex(file.disclosures.output.salt) ?? new Uint8Array()
      expect(toHex(commit('output/v1', salt, readingsOf(text)[0]))).toBe(
        file.receipt.content.output,
      )
    }
    expect(readingsOf('{"object":"list","data":[1]}')).toEqual([[1]])
    expect(readingsOf('{"object":"run","output":[2]}')).toEqual([[2]])
    for (const none of ['', 'text', '[]', 'data: [DONE]\n\n']) {
      expect(readingsOf(none)).toEqual([])
    }
  })

  test('that says nothing else is not free where no usage is reported', async () => {
    body = { choices: [{ index: 0, message: { content: null, images: [image] } }] }
    const answer = await (await ask()).json()
    expect(answer.choices[0].message.images).toEqual([image])
    const bytes = `images${JSON.stringify([image])}`.length
    expect(await outputUnits()).toBe(Math.ceil(bytes / 4))
    await ask({ model: 'stub/three' })
    expect(await outputUnits()).toBe(Math.ceil(bytes / 2.5))
  })

  test('beside the choices they are not relayed', async () => {
    const message = { role: 'assistant', content: 'x' }
    body = { choices: [{ index: 0, message, finish_reason: 'stop' }], citations: ['https://x'] }
    expect(await (await ask()).text()).not.toContain('citations')
    expect(await outputUnits()).toBe(1)
  })

  test('of a vector they are not relayed', async () => {
    const { readEmbeddings } = await import('../../src/runs/complete.ts')
    const item = { object: 'embedding', index: 0, embedding: [1] }
    expect(readEmbeddings({ data: [{ ...item, text: 'a whole chat' }] }).choices).toEqual([item])
  })
})
