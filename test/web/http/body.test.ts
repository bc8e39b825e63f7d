import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import fc from 'fast-check'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { readJson } from '../../../src/web/http/body.ts'
import { checkBody } from '../../../src/web/http/check-body.ts'
import { findJsonError } from '../../../src/web/http/json-position.ts'
import { promise } from '../../support/promise.ts'

const limitBytes = 200
const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
const read = (body: BodyInit, headers?: Record<string, string>) =>
  readJson(post(body, headers), { limitBytes })
const refusalOf = async (answer: Promise<unknown>): Promise<Refusal> => {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Refusal) return error
  throw new Error(`not refused: ${error}`)
}
const inChunks = (...parts: (string | Uint8Array)[]) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const part of parts)
        controller.enqueue(typeof part === 'string' ? Buffer.from(part) : part)
      controller.close()
    },
  })

describe('a good body', () => {
  test('is answered as value and text', async () => {
    expect(await read('{"a": "ü"}')).toEqual({ value: { a: 'ü' }, text: '{"a": "ü"}' })
  })
  test('may come in chunks that split a character', async () => {
    const bytes = Buffer.from('{"a":"ü"}')
    expect((await read(inChunks(bytes.subarray(0, 7), bytes.subarray(7)))).value).toEqual({
      a: 'ü',
    })
  })
  test('may be exactly as long as the limit', async () => {
    expect((await read(`"${'x'.repeat(limitBytes - 2)}"`)).text).toHaveLength(limitBytes)
  })
  test.each([
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset="UTF-8"',
  ])('may be sent as %s', async (type) => {
    expect((await read('{}', { 'content-type': type })).value).toEqual({})
  })
  test('A body may say Content-Encoding: identity.', async () => {
    expect((await read('{}', { 'content-encoding': 'identity' })).value).toEqual({})
  })
  test('may hold whole pairs as escapes', async () => {
    expect((await read('"\\ud83d\\ude00"')).value).toBe('😀')
  })
  test('may have whole pairs in names and values, as escapes or not', async () => {
    const { value } = await read('{"a":"\\ud83d\\ude00","\\ud83d\\ude00":"😀"}')
    expect(value).toEqual({ a: '😀', '😀': '😀' })
  })
  test('may be 80 levels deep', async () => {
    expect((await read('['.repeat(80) + ']'.repeat(80))).text).toHaveLength(160)
  })
  test('may have 80 objects in each other, or lists and objects in turn, and not 81', async () => {
    const nest = (open: string, close: string, count: number) =>
      readJson(post(`${open.repeat(count)}1${close.repeat(count)}`), { limitBytes: 1000 })
    expect((await nest('{"a":', '}', 80)).text).toHaveLength(481)
    expect((await nest('[{"a":', '}]', 40)).text).toHaveLength(321)
    expect((await refusalOf(nest('{"a":', '}', 81))).message).toContain('nested deeper than 80')
    expect((await refusalOf(nest('[{"a":', '}]', 41))).message).toContain('nested deeper than 80')
  })
  test('may name __proto__ without touching any prototype', async () => {
    const { value } = await read('{"__proto__":{"polluted":1}}')
    expect(Object.keys(value ?? {})).toEqual(['__proto__'])
    expect('polluted' in {}).toBe(false)
  })
})

promise`D24 H: A request is limited in size, depth and number of parts.`
describe('413 payload_too_large', () => {
  test('by the declared length, without reading', async () => {
    const request = post('{}', { 'content-length': '201' })
    expect((await refusalOf(readJson(request, { limitBytes }))).type).toBe('payload_too_large')
    expect(request.bodyUsed).toBe(false)
  })
  test('by counting a body in chunks, which is then left', async () => {
    let cancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(60)),
      cancel: () => {
        cancelled = true
      },
    })
    expect((await refusalOf(read(endless))).type).toBe('payload_too_large')
    expect(cancelled).toBe(true)
  })
})

promise`D24`
describe('415 unsupported_media_type', () => {
  const table: Record<string, string>[] = [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/jsonx' },
    { 'content-type': 'application/json; charset=latin-1' },
    { 'content-type': 'multipart/form-data; boundary=application/json' },
    { 'content-type': '' },
    { 'content-encoding': 'compress' },
    { 'content-encoding': 'gzip, br' },
  ]
  test.each(table)('A body with the headers %j is refused.', async (headers) => {
    expect((await refusalOf(read('{}', headers))).type).toBe('unsupported_media_type')
  })
})

describe('400 invalid_request', () => {
  const table: [string, string | Buffer<ArrayBuffer>][] = [
    ['empty', ''],
    ['not JSON', '{"a":1,}'],
    ['text after it', '{} {}'],
    ['a truncated four-byte character', Buffer.from([0x22, 0xf0, 0x9f, 0x98, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['half a pair as escape', '"\\ud800"'],
    ['half a pair in a name', '{"\\uDC00":1}'],
    ['half a pair deep inside', '{"a":[{"b":"x\\ud83dy"}]}'],
    ['a number beyond a double', '{"a":[1e999]}'],
    ['81 levels', '['.repeat(81) + ']'.repeat(81)],
  ]
  test.each(table)('A body is refused: %s.', async (_, body) => {
    expect((await refusalOf(read(body))).type).toBe('invalid_request')
    expect((await refusalOf(read(inChunks(body)))).type).toBe('invalid_request')
  })
  test('broken JSON is told by position and never quoted', async () => {
    const refusal = await refusalOf(read('{\n  "a": sk-secret\n}'))
    expect(refusal.detail.metadata).toEqual({ line: 2, column: 8, offset: 9 })
    expect(refusal.message).not.toContain('secret')
  })
  promise`D24`
  test('two million levels are refused, not walked', async () => {
    const text = '['.repeat(2e6) + ']'.repeat(2e6)
    const answer = readJson(post(text), { limitBytes: 4 << 20 })
    expect((await refusalOf(answer)).type).toBe('invalid_request')
  })
})

describe('where JSON breaks', () => {
  test.each([
    ['', 0],
    ['{', 1],
    ['[1,]', 3],
    ['{"a" 1}', 5],
    ['{"a":1]', 6],
    ['[01]', 1],
    ['[1 2]', 3],
    ['{a:1}', 1],
    ['"a\nb"', 0],
    ['["\\x"]', 1],
    ['nul', 0],
    ['[true, truex]', 7],
    ['{} x', 3],
    ['[1}', 2],
    ['{"a":}', 5],
    ["{'a':1}", 1],
    ['[+1]', 1],
    ['[1.]', 1],
    [']', 0],
    ['[,1]', 1],
  ])('The JSON text %j breaks at %i.', (text, offset) => {
    expect(findJsonError(text)?.offset).toBe(offset)
  })

  test('a cut text breaks at or before its end, and valid JSON breaks nowhere before it', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        expect(findJsonError(text)?.offset).toBe(text.length)
        const cut = text.slice(0, at % (text.length + 1))
        expect(findJsonError(cut)?.offset).toBeLessThanOrEqual(cut.length)
      }),
    )
  })
})

describe('a long text that would take long', () => {
  const most = { limitBytes: 4 * 1024 * 1024 }
  const long = (text: string) => refusalOf(readJson(post(text), most))
  const table: [what: string, text: string, words: string][] = [
    ['brackets alone', '['.repeat(2_000_000), 'nested deeper than 80'],
    ['deep and whole', `${'['.repeat(9000)}${']'.repeat(9000)}`, 'nested deeper than 80'],
    [
      'deep behind a string',
      `["${'\\\\\\"['.repeat(9000)}",${'['.repeat(81)}`,
      'nested deeper than 80',
    ],
    ['members', `{${'"a":1,'.repeat(100_001)}"b":1}`, 'more than 100000'],
    ['objects', `[${'{},'.repeat(100_001)}1]`, 'more than 100000'],
    ['a fault behind 200,000 tokens', `[${'1,'.repeat(200_001)}x]`, 'is not valid JSON.'],
  ]
  test.each(table)('%s: is refused without a long look', async (_, text, words) => {
    const refusal = await long(text)
    expect(refusal.type).toBe('invalid_request')
    expect(refusal.message).toContain(words)
  })
  test('brackets inside of strings are text', async () => {
    const text = `"${'[{\\"'.repeat(50_000)}"`
    expect((await readJson(post(text), most)).value).toBe('[{"'.repeat(50_000))
  })
  test('80 levels deep is as deep as a short one may be', async () => {
    const text = `${'['.repeat(80)}${'1,'.repeat(20_000)}1${']'.repeat(80)}`
    expect((await readJson(post(text), most)).text).toBe(text)
  })
  test('100,000 objects, lists and members may be in it, and not one more', async () => {
    const textOf = (count: number) => `[${'{},'.repeat(count - 2)}{}]`
    expect((await readJson(post(textOf(100_000)), most)).value).toHaveLength(99_999)
    expect((await long(textOf(100_001))).message).toContain('more than 100000')
  })
  test('a long list of numbers is none', async () => {
    const { value } = await readJson(post(`[${'1,'.repeat(300_000)}1]`), most)
    expect(value).toHaveLength(300_001)
  })
})

describe('checkBody', () => {
  const schema = Type.Object(
    {
      name: Type.String({ maxLength: 5 }),
      cap: Type.Optional(
        Type.Object({ limit_nusd: Type.Integer({ minimum: 0 }) }, { additionalProperties: false }),
      ),
      tags: Type.Optional(Type.Array(Type.String())),
    },
    { additionalProperties: false },
  )
  test('The check returns the value itself.', () => {
    const value = { name: 'a', cap: { limit_nusd: 1 } }
    expect(checkBody(schema, value)).toBe(value)
  })
  test.each([
    [{ name: 'a', owner: 'sk-1' }, 'owner'],
    [{ name: 'a', cap: { limit_nusd: 1, 'spent/x': 'sk-1' } }, 'cap.spent/x'],
    [{ name: 'a', cap: { limit_nusd: '1' } }, 'cap.limit_nusd'],
    [{ name: 'a', cap: { limit_nusd: 1.5 } }, 'cap.limit_nusd'],
    [{ name: 'a', tags: ['x', 5] }, 'tags.1'],
    [{ name: 'sk-secret' }, 'name'],
    [{}, 'name'],
    ['sk-1', undefined],
    [null, undefined],
    [[], undefined],
  ])('%j is refused at %s without its value', (value, param) => {
    const check = () => checkBody(schema, value)
    expect(check).toThrow(Refusal)
    try {
      check()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      expect(error.detail.param).toBe(param)
      expect(error.message).not.toContain('sk-')
    }
  })

  test.each([
    [{ name: 'a', owner: 1 }, '"owner" is wrong: this route knows no such field.'],
    [{ name: 5 }, '"name" is wrong: expected string.'],
    [[], 'The body is wrong: expected object.'],
  ])('%j is told in a sentence', (value, message) => {
    const fresh = Type.Object({ name: Type.String() }, { additionalProperties: false })
    expect(() => checkBody(fresh, value)).toThrow(message)
    expect(checkBody(fresh, { name: 'a' })).toEqual({ name: 'a' })
  })
  test('a path of 200 characters is told whole, of a longer one the first 200', () => {
    const paramOf = (length: number) => {
      try {
        checkBody(schema, { name: 'a', ['x'.repeat(length)]: 1 })
      } catch (error) {
        return error instanceof Refusal ? error.detail.param : error
      }
      return undefined
    }
    expect(paramOf(200)).toBe('x'.repeat(200))
    expect(paramOf(201)).toBe(`${'x'.repeat(200)}…`)
  })
})
