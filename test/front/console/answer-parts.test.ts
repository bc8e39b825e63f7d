import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import {
  answerMessages,
  isRaster,
  prettyJson,
  readAnswer,
  readPiece,
  reasoningTitle,
  replyOf,
} from '../../../src/models/answers/answer-parts.ts'
import { promise } from '../../support/promise.ts'
import { pngUrl } from './support.ts'

const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }

describe('what an answer holds', () => {
  const cases: [what: string, message: JsonObject, said: object][] = [
    ['text alone', { content: 'Hi.' }, { text: 'Hi.' }],
    ['no content', { content: null }, {}],
    ['a refusal', { content: '', refusal: 'No.' }, { text: 'No.' }],
    [
      'text in parts, and an image among them',
      { content: [{ type: 'text', text: 'a' }, { image_url: { url: pngUrl } }, 7, { text: 'b' }] },
      { text: 'ab', images: [pngUrl] },
    ],
    [
      'images beside it',
      { content: '', images: [{ image_url: pngUrl }, {}] },
      { images: [pngUrl] },
    ],
    ['reasoning', { content: 'a', reasoning_content: 'Hm.' }, { text: 'a', reasoning: 'Hm.' }],
    [
      'the same reasoning under two names, once',
      { content: 'a', reasoning: 'Hm.', reasoning_details: [{ text: 'Hm.' }] },
      { text: 'a', reasoning: 'Hm.' },
    ],
    [
      'reasoning in details alone',
      { content: '', reasoning_details: [{ text: 'a' }, { summary: 'b' }, { data: 'c' }] },
      { reasoning: 'ab' },
    ],
    [
      'a call',
      { content: null, tool_calls: [call] },
      { calls: [{ name: 'look', input: '{"at":1}' }] },
    ],
    [
      'a call of a custom tool',
      { tool_calls: [{ type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] },
      { calls: [{ name: 'sql', input: 'SELECT 1' }] },
    ],
    [
      'a call of the old shape',
      { function_call: { name: 'f', arguments: '{}' } },
      { calls: [{ name: 'f', input: '{}' }] },
    ],
  ]
  test.each(cases)('%s', (_, message, said) => {
    const nothing = { text: '', reasoning: '', calls: [], images: [] }
    expect(readAnswer(message)).toEqual({ ...nothing, ...said })
  })

  test('a piece of a call has its index, or its place', () => {
    const { calls } = readPiece({
      tool_calls: [{ function: { name: 'f' } }, { index: 7, function: { arguments: '{' } }],
    })
    expect(calls).toEqual([
      { index: 0, name: 'f', input: '' },
      { index: 7, name: '', input: '{' },
    ])
  })
})

promise`C16 H: An image of an answer is shown only if it is in its URL; no page fetches one.`
describe('an image is shown only if it is in its URL', () => {
  test.each([
    [pngUrl, true],
    ['data:image/gif;base64,R0lGODdh', true],
    ['data:image/svg+xml;base64,PHN2Zz4=', false],
    ['data:text/html;base64,PHN2Zz4=', false],
    ['data:image/png,abc', false],
    ['data:image/png;base64,a b', false],
    ['data:image/png;base64,', false],
    ['https://elsewhere.example/a.png', false],
    ['//elsewhere.example/a.png', false],
    ['javascript:alert(1)', false],
  ])('%s: %p', (url, is) => {
    expect(isRaster(url)).toBe(is)
  })
})

describe('JSON with line breaks', () => {
  test.each([
    [
      '{"a":1,"b":[true,null],"c":{}}',
      '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ],\n  "c": {}\n}',
    ],
    ['{"n":12345678901234567890,"n":1.0}', '{\n  "n": 12345678901234567890,\n  "n": 1.0\n}'],
    ['{"s":"{ \\"x\\": [1,2] }, \\\\"}', '{\n  "s": "{ \\"x\\": [1,2] }, \\\\"\n}'],
    ['{ }', '{}'],
    ['"x"', '"x"'],
    ['{"cut', '{"cut'],
    ['', ''],
  ])('%s', (text, pretty) => {
    expect(prettyJson(text)).toBe(pretty)
  })

  test('a deep one does not grow by its square', () => {
    const deep = `${'['.repeat(5000)}1${']'.repeat(5000)}`
    expect(prettyJson(deep).length).toBeLessThan(5000 * 2 * 40)
  })
})

test('reasoning is named by its words', () => {
  expect(reasoningTitle('One.')).toBe('Reasoning, 1 word')
  expect(reasoningTitle('so, \n so '.repeat(600))).toBe('Reasoning, 1,200 words')
})

describe('what goes back to the model', () => {
  const plain = { reasoning_content: 'Hm.' }
  const signed = { ...plain, reasoning_details: [{ type: 'reasoning.text', signature: 'sig' }] }
  const calling = { ...plain, tool_calls: [call] }
  const result = {
    role: 'tool',
    tool_call_id: 'c1',
    content: 'Not run: there are no tools in this conversation.',
  }
  const cases: [what: string, args: Parameters<typeof answerMessages>, messages: object[]][] = [
    ['text', ['a', undefined, true], [{ role: 'assistant', content: 'a' }]],
    [
      'reasoning without a signature stays',
      ['a', plain, true],
      [{ role: 'assistant', content: 'a' }],
    ],
    ['signed reasoning', ['a', signed, true], [{ role: 'assistant', content: 'a', ...signed }]],
    [
      'signed reasoning of another model stays',
      ['a', signed, false],
      [{ role: 'assistant', content: 'a' }],
    ],
    [
      'calls with the reasoning in front of them, and a result each',
      ['', calling, true],
      [{ role: 'assistant', content: null, ...calling }, result],
    ],
    [
      'calls of another model without its reasoning',
      ['a', calling, false],
      [{ role: 'assistant', content: 'a', tool_calls: [call] }, result],
    ],
    [
      'no other member',
      ['a', { ...signed, role: 'system', content: 'x' }, true],
      [{ role: 'assistant', content: 'a', ...signed }],
    ],
  ]
  test.each(cases)('%s', (_, args, messages) => {
    expect(answerMessages(...args)).toEqual(messages as never)
  })

  test('what a page keeps is bounded', () => {
    expect(replyOf({ role: 'assistant', content: 'a', ...signed })).toEqual(signed)
    expect(replyOf({ role: 'assistant', content: 'a', reasoning: '' })).toBeUndefined()
    expect(replyOf({ reasoning: 'x'.repeat(64_000) })).toBeUndefined()
  })
})
