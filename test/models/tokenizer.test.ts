import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import type { Json } from '../../src/kernel/canonical.ts'
import { boundOf } from '../../src/models/bound.ts'
import { echoModel, embedModel } from '../../src/models/builtins.ts'
import type { Model } from '../../src/models/model.ts'
import { loadTokenizer } from '../../src/models/tokenizers/load.ts'
import { tokenizerNames } from '../../src/models/tokenizers/tokenizer.ts'
import { promise } from '../support/promise.ts'

const libraries = { o200k_base: o200k, cl100k_base: cl100k }

describe.each(tokenizerNames)('the tokenizer %s', async (name) => {
  const { count } = await loadTokenizer(name)
  const asText = { disallowedSpecial: new Set<string>() }
  const exact = (text: string) => libraries[name].encode(text, asText).length

  const files = ['docs/api.md', 'docs/metering.md', 'src/runs/api.ts', 'bun.lock', 'CHANGELOG.md']
  test.each(files)('counts %s as the library does', async (file) => {
    const text = await Bun.file(file).text()
    expect(count(text)).toBe(exact(text))
  })

  test.each([
    ['', 0],
    ['\u0000', 1],
    ['你好世界，这是一个测试。 مرحبا 😀👩‍👩‍👧 naïve', undefined],
    ["  \n\n\t x  \r\n 1234567 !!!\n/// DON'T don't", undefined],
  ])('The tokenizer counts %j exactly.', (text, tokens) => {
    expect(count(text)).toBe(tokens ?? exact(text))
  })

  promise`D30`
  test('The tokenizer counts any text exactly.', () => {
    const unit = fc.constantFrom(
      'a',
      'B',
      'é',
      '漢',
      '😀',
      ' ',
      '\n',
      "'s",
      '9',
      '_',
      '\u0301',
      'ab',
    )
    const text = fc.oneof(fc.string({ unit, maxLength: 200 }), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(text, (written) => {
        expect(count(written)).toBe(exact(written))
      }),
      { numRuns: 500 },
    )
  })

  test('texts of one request share the work that is done for them', () => {
    const word = 'qzxv'.repeat(250)
    const work = { squares: 0 }
    const counts = Array.from({ length: 40 }, () => count(word, work))
    expect(counts[0]).toBe(exact(word))
    expect(counts.at(-1)).toBe(word.length)
  })

  test('reads special tokens as text', () => {
    for (const text of ['<|endoftext|>', 'a<|im_start|>b<|endofprompt|>']) {
      expect(count(text)).toBe(exact(text))
      expect(count(text)).toBeGreaterThan(3)
    }
  })

  promise`D30`
  test.each([
    ['a', 65_536],
    ['Q', 65_536],
    ['😀', 16_384],
    [' ', 65_536],
    ['\n', 65_536],
    ['-', 65_536],
    ['的', 20_000],
    ['\u0301', 30_000],
  ])('counts a piece of %j without an end by its bytes', (one, times) => {
    const text = one.repeat(times)
    const tokens = count(text)
    expect(tokens).toBe(Buffer.byteLength(text))
  })

  test('counts by bytes what would take long to merge, and never below', () => {
    let word = ''
    for (let i = 0; i < 1000; i++) word += String.fromCharCode(97 + ((i * i * 7 + i) % 26))
    const text = `${word} `.repeat(40)
    expect(count(text)).toBeGreaterThan(exact(text))
    expect(count(text)).toBeLessThanOrEqual(Buffer.byteLength(text))
  })
})

describe('the bound of a model with a tokenizer', async () => {
  const tokenizer = await loadTokenizer('o200k_base')
  const chat: Model = {
    ...echoModel,
    id: 'acme/small',
    verifiable: 'none',
    contextTokens: 1_000_000,
    overhead: { perMessage: 16, fixed: 64 },
    tokenizer: 'o200k_base',
  }
  const bytes: Model = { ...chat, tokenizer: undefined }
  const tokensOf = (messages: Json, more = {}) =>
    boundOf(chat, { messages, ...more }, tokenizer).inputTokens

  test('is the tokens of the text, its role and the overhead', () => {
    const content = 'The quick brown fox jumps over the lazy dog.'
    const read = o200k.countTokens(content) + o200k.countTokens('user')
    expect(tokensOf([{ role: 'user', content }])).toBe(read + 16 + 64)
    expect(tokensOf([{ role: 'user', content: [{ type: 'text', text: content }] }])).toBe(
      read + 16 + 64,
    )
  })

  test('counts all that a model reads: names, calls, tools, formats', () => {
    const text = 'one two three four five six seven eight nine ten '.repeat(20)
    const plain = tokensOf([{ role: 'user', content: '' }])
    const least = plain + o200k.countTokens(text)
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: text } }
    const tool = { type: 'function', function: { name: 'f', description: text } }
    const user = { role: 'user', content: '' }
    expect(tokensOf([{ ...user, name: text }])).toBeGreaterThanOrEqual(least)
    expect(tokensOf([{ role: text, content: '' }])).toBeGreaterThan(least - 5)
    expect(tokensOf([{ role: 'assistant', tool_calls: [call] }])).toBeGreaterThanOrEqual(least)
    expect(tokensOf([{ ...user, reasoning_content: text }])).toBeGreaterThanOrEqual(least)
    expect(tokensOf([user], { tools: [tool] })).toBeGreaterThanOrEqual(least)
    const format = { type: 'json_schema', json_schema: { name: text } }
    expect(tokensOf([user], { response_format: format })).toBeGreaterThanOrEqual(least)
    const parts = [{ type: 'text', text: '', cache_control: { type: text } }]
    expect(tokensOf([{ role: 'user', content: parts }])).toBeGreaterThanOrEqual(least)
  })

  test('is at least what tools take as the JSON that templates write', () => {
    const tools = [
      {
        type: 'function',
        function: {
          name: 'read_file',
          description: 'Reads a file.',
          parameters: {
            type: 'object',
            properties: { path: { type: 'string', description: 'Where it is.' } },
            required: ['path'],
          },
        },
      },
    ]
    const user = [{ role: 'user', content: '' }]
    for (const indent of [0, 1, 2, 4]) {
      const written = o200k.countTokens(JSON.stringify(tools, null, indent))
      expect(tokensOf(user, { tools })).toBeGreaterThanOrEqual(written + 16 + 64)
    }
  })

  test('beyond 256 KiB of text is of bytes again, as many as hold_bytes_per_token says', () => {
    const text = 'word '.repeat(80_000)
    // The role is text, too.
    const exact = 256 * 1024 - Buffer.byteLength('user')
    const beyond = Buffer.byteLength(text) - exact
    const of = (model: Model) =>
      boundOf(model, { messages: [{ role: 'user', content: text }] }, tokenizer).inputTokens
    const counted = tokenizer.count(text.slice(0, exact))
    const around = tokenizer.count('user') + 16 + 64
    expect(of(chat)).toBe(counted + beyond + around)
    expect(of({ ...chat, holdBytesPerToken: 4 })).toBe(counted + Math.ceil(beyond / 4) + around)
  })

  test('is never above that of bytes', () => {
    const anything = fc.jsonValue() as fc.Arbitrary<Json>
    fc.assert(
      fc.property(anything, fc.string({ unit: 'grapheme' }), (value, content) => {
        const body = { messages: [{ role: 'user', content, name: 'n' }], response_format: value }
        const most = boundOf(bytes, body).inputTokens
        expect(boundOf(chat, body, tokenizer).inputTokens).toBeLessThanOrEqual(most)
      }),
    )
  })

  test('counts the inputs of an embedding, and numbers as they are', () => {
    const model: Model = { ...embedModel, verifiable: 'none', tokenizer: 'o200k_base' }
    const of = (input: Json) => boundOf(model, { input }, tokenizer).inputTokens
    expect(of('hello world')).toBe(2)
    expect(of(['hello world', 'hello'])).toBe(3)
    expect(of([1, 2, 3, 4])).toBe(4)
  })
})
