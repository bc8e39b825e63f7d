import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../src/kernel/json-object.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { echoModel } from '../../../src/models/builtins.ts'
import type { Model } from '../../../src/models/model.ts'
import { boundOfNative } from '../../../src/models/protocols/native/bound.ts'
import { type Native, nativeOf, nativeRequest } from '../../../src/models/protocols/native.ts'
import { loadTokenizer } from '../../../src/models/tokenizers/load.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { requests } from './requests.ts'

const model: Model = {
  ...echoModel,
  verifiable: 'none',
  contextTokens: 1e9,
  maxOutputTokens: 1000,
  imageTokensMax: 700,
  pageTokensMax: 50,
}
const protocols = ['messages', 'responses'] as const
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

/** The bytes of what goes on, less the data of images where the protocol has images. */
function textBytes(native: Native): number {
  const {
    model: _,
    max_tokens,
    max_output_tokens,
    store,
    ...body
  } = nativeRequest(native, {
    model: 'far',
    maxTokens: 1000,
  }).body
  return Buffer.byteLength(JSON.stringify(withoutImages(body)))
}

function withoutImages(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutImages)
  if (!isObject(value)) return value
  if (value['type'] === 'base64') return { ...value, data: '' }
  const copy = Object.entries(value).map(([name, member]) => [name, withoutImages(member)])
  const left: JsonObject = Object.fromEntries(copy)
  if (value['type'] === 'input_image') left['image_url'] = 'data:image/png;base64,'
  return left
}

/** Blocks, items and tools that no protocol has yet. */
const anything = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('data', 'text', 'content', 'blob', 'x'), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value
const unknown = fc
  .tuple(fc.constantFrom('future_block', 'agent_message', 'compaction'), anything)
  .map(([type, payload]): JsonObject => ({ type, payload, data: 'iVBORw0KGgo=' }))

const withUnknown = (protocol: Native['protocol']) =>
  fc
    .tuple(requests[protocol], fc.array(unknown, { maxLength: 3 }), anything)
    .map(([request, more, member]): JsonObject => {
      const tools = [...((request['tools'] as Json[] | undefined) ?? []), ...more]
      const body: JsonObject = { ...request, a_new_member: member, tools }
      if (protocol === 'messages') {
        const turn: JsonObject = { role: 'user', content: more }
        body['messages'] = [...(request['messages'] as Json[]), turn]
      } else if (Array.isArray(request['input'])) body['input'] = [...request['input'], ...more]
      return body
    })

describe.each(protocols)('A request of %s that goes on as it came', (protocol) => {
  promise`S2 C: A request that goes on as it came is held for by at least the bytes of its text,
    known parts and unknown ones; what has no bound or no rate is refused by name.`
  test('is bounded by at least the bytes of its text, known parts and unknown ones.', () => {
    let bounded = 0
    fc.assert(
      fc.property(withUnknown(protocol), (body) => {
        let native: Native
        try {
          native = read(protocol, body)
        } catch (error) {
          if (error instanceof Refusal) return
          throw error
        }
        bounded++
        const bound = boundOfNative(model, native)
        expect(bound.inputBytes).toBe(textBytes(native))
        expect(bound.inputTokens).toBeGreaterThanOrEqual(bound.inputBytes)
        expect(native.members['a_new_member'] ?? null).toEqual(body['a_new_member'] ?? null)
      }),
      { numRuns: nightly(300, 3000), seed: 36 },
    )
    expect(bounded).toBeGreaterThan(100)
  })

  test('is counted by a tokenizer at no more than its bytes, and at no less than its texts.', async () => {
    const tokenizer = await loadTokenizer('o200k_base')
    const text = 'A sentence of some words that is counted. '.repeat(50)
    const body: JsonObject =
      protocol === 'messages'
        ? { max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'text', text }] }] }
        : { input: [{ role: 'user', content: [{ type: 'input_text', text }] }] }
    const native = read(protocol, body)
    const [exact, bytes] = [boundOfNative(model, native, tokenizer), boundOfNative(model, native)]
    expect(exact.inputTokens).toBeLessThan(bytes.inputTokens / 3)
    expect(exact.countedText).toBeGreaterThanOrEqual(tokenizer.count(text))
  })
})

const png = `iVBORw0KGgo${'A'.repeat(4001)}`
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
const dataUrl = `data:image/png;base64,${png}`
const inputImage = { type: 'input_image', image_url: dataUrl }

promise`S2`
describe('An image is bounded by its rule', () => {
  const most = (native: Native): number => boundOfNative(model, native).inputTokens
  const messages = (...content: Json[]): Native =>
    read('messages', { max_tokens: 5, messages: [{ role: 'user', content }] })
  const responses = (...input: Json[]): Native => read('responses', { input })

  test('where its protocol has images: in messages, results of tools and screenshots.', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: [image] }
    const nested = { type: 'document', source: { type: 'content', content: [image] } }
    for (const block of [image, result, nested]) {
      expect(most(messages(block))).toBeLessThan(1100)
      expect(most(messages(block))).toBeGreaterThan(700)
    }
    const screen = { type: 'computer_screenshot', image_url: dataUrl }
    const items: JsonObject[] = [
      { role: 'user', content: [inputImage] },
      { type: 'function_call_output', call_id: 'c', output: [inputImage] },
      { type: 'custom_tool_call_output', call_id: 'c', output: [inputImage] },
      { type: 'computer_call_output', call_id: 'c', output: screen },
    ]
    for (const item of items) {
      expect(most(responses(item))).toBeLessThan(1100)
      expect(most(responses(item))).toBeGreaterThan(700)
    }
  })

  test('and by its bytes wherever a model may read it as text.', () => {
    const call = { type: 'tool_use', id: 't', name: 'f', input: image }
    const future = { type: 'future_block', content: [image] }
    const other = { type: 'future_block', data: png }
    for (const block of [call, future, other]) {
      expect(most(messages(block))).toBeGreaterThan(4000)
    }
    for (const item of [inputImage, { type: 'future_item', content: [inputImage] }]) {
      expect(most(responses(item))).toBeGreaterThan(4700)
    }
  })

  test('and refused by name where it is an address, an id or something else.', () => {
    const of = (block: Json) => faultOf(() => messages(block))
    const at = 'messages[0].content[0]'
    expect(of({ type: 'image', source: { type: 'url', url: 'https://x.example' } })).toBe(
      `${at}.source.type`,
    )
    expect(of({ type: 'document', source: { type: 'file', file_id: 'f' } })).toBe(
      `${at}.source.type`,
    )
    expect(of({ type: 'future', source: { type: 'url', url: 'https://x.example' } })).toBe(
      `${at}.source.type`,
    )
    expect(of({ type: 'container_upload', file_id: 'f' })).toBe(`${at}.file_id`)
    const fake = { ...image, source: { ...image.source, data: 'aGVsbG8gd29ybGQh' } }
    expect(of(fake)).toBe(`${at}.source.data`)
    const item = (part: Json) => faultOf(() => responses({ role: 'user', content: [part] }))
    expect(item({ type: 'input_file', file_url: 'https://x.example' })).toBe(
      'input[0].content[0].file_url',
    )
    expect(item({ type: 'input_image', image_url: 'https://x.example/a.png' })).toBe(
      'input[0].content[0].image_url',
    )
  })
})

test('The definition of a tool counts each time that it is named.', () => {
  const tool = { name: 'plan', description: 'x'.repeat(5000), input_schema: { type: 'object' } }
  const named = (times: number): number => {
    const content = Array.from({ length: times }, () => ({
      type: 'tool_reference',
      tool_name: 'plan',
    }))
    const turn = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] }
    const body = { max_tokens: 5, tools: [tool], messages: [turn] }
    return boundOfNative(model, read('messages', body)).inputTokens
  }
  expect(named(3) - named(0)).toBeGreaterThan(15_000)
})
