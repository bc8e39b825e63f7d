import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { maxEventLength, SseParser } from '../../../src/models/upstream/sse.ts'
import { UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { fault, promise } from '../../support/promise.ts'

const encoder = new TextEncoder()

function parse(...reads: (string | Uint8Array)[]): string[] {
  const events: string[] = []
  const parser = new SseParser({ takeEvent: (data) => void events.push(data) })
  for (const read of reads) parser.push(typeof read === 'string' ? encoder.encode(read) : read)
  parser.end()
  return events
}

describe('events', () => {
  const table: [what: string, text: string, events: string[]][] = [
    ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['line ends of all kinds', 'data: a\r\n\ndata: b\n\r\ndata: c\r\r\n', ['a', 'b', 'c']],
    ['no space after the colon', 'data:a\n\n', ['a']],
    ['only one space is dropped', 'data:  a\n\n', [' a']],
    ['several data lines', 'data: a\ndata: b\n\n', ['a\nb']],
    ['a data line without a colon', 'data\n\n', ['']],
    ['empty data lines', 'data:\ndata:\n\n', ['\n']],
    ['comments and other fields', ': ping\nevent: error\nid: 1\nretry: 5\ndata: a\n\n', ['a']],
    ['fields that only begin like data', 'database: x\ndata-x: y\n\n', []],
    ['a BOM at the start', '\ufeffdata: a\n\n', ['a']],
    ['a missing blank line at the end', 'data: a\n', ['a']],
    ['a missing final newline', 'data: a\n\ndata: b', ['a', 'b']],
    ['blank lines alone', '\n\n\r\n\n', []],
    ['nothing', '', []],
  ]
  for (const [what, text, events] of table) {
    test(`${what}, wherever the bytes are split`, () => {
      const bytes = encoder.encode(text)
      expect(parse(bytes)).toEqual(events)
      expect(parse(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(events)
      for (let at = 0; at <= bytes.length; at++) {
        expect(parse(bytes.slice(0, at), bytes.slice(at))).toEqual(events)
      }
    })
  }

  promise`D16 H: Upstream output is limited, and odd event streams are read as the same events.`
  test('any stream gives the same events however it is split', () => {
    const piece = fc.constantFrom(
      'data: ',
      'data',
      ':',
      '\n',
      '\r',
      '\r\n',
      'é',
      '漢',
      '😀',
      'x',
      ' ',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (pieces, cuts) => {
          const bytes = encoder.encode(pieces.join(''))
          const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length]
          at.sort((a, b) => a - b)
          const reads = at.slice(1).map((end, i) => bytes.slice(at[i], end))
          expect(parse(...reads)).toEqual(parse(bytes))
        },
      ),
    )
  })

  test('data comes out as it went in', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { maxLength: 20 }), (values) => {
        expect(parse(values.map((value) => `data: ${value}\n\n`).join(''))).toEqual(values)
      }),
    )
  })

  promise`D17`
  test('text inside data cannot forge an event', () => {
    const data = JSON.stringify({ content: '\n\nevent: error\ndata: [DONE]\n\n' })
    expect(parse(`data: ${data}\n\n`)).toEqual([data])
  })
})

describe('events of servers that write them loosely', () => {
  const table: [what: string, text: string, events: string[]][] = [
    ['a line of JSON without a field', 'data: {"a":1}\n\n{"b":2}\n\n', ['{"a":1}', '{"b":2}']],
    ['lines of JSON alone', '{"a":1}\n{"b":2}\r\n[DONE]\n', ['{"a":1}', '{"b":2}', '[DONE]']],
    [
      'no blank line',
      'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]',
      ['{"a":1}', '{"b":2}', '[DONE]'],
    ],
    ['JSON in several data lines', 'data: {"a":\ndata: {"b":2}}\n\n', ['{"a":\n{"b":2}}']],
    ['a whole text of JSON', '{"a":1}', ['{"a":1}']],
    [
      'the same over several lines',
      ' {\n "a": [\n1\n],\n"b":2 }\n',
      ['{\n "a": [\n1\n],\n"b":2 }'],
    ],
  ]
  test.each(table)('The parser reads loose events: %s.', (_, text, events) => {
    const bytes = encoder.encode(text)
    expect(parse(bytes)).toEqual(events)
    expect(parse(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(events)
  })

  test('a name goes with its event, and an error may be a field', () => {
    const named: [string, string | undefined][] = []
    const parser = new SseParser({ takeEvent: (data, name) => void named.push([data, name]) })
    const text = 'event: ping\ndata: a\n\ndata: b\n\nevent:x\n\ndata: c\n\nerror: {"d":1}\n\n'
    parser.push(encoder.encode(text))
    parser.end()
    expect(named).toEqual([
      ['a', 'ping'],
      ['b', undefined],
      ['c', undefined],
      ['{"d":1}', 'error'],
    ])
  })

  test('a long event takes time in proportion to its length, however its lines look', () => {
    const lines = 'data: {"a":[{}\n'.repeat(300_000)
    const began = Bun.nanoseconds()
    expect(parse(lines)).toHaveLength(1)
    expect((Bun.nanoseconds() - began) / 1e9).toBeLessThan(10)
  })
})

describe('limits', () => {
  const tooLarge = new UpstreamFailure('too_large')
  const line = 'x'.repeat(100_000)

  promise`D16`
  test('an event of 8 MiB passes, one more is too large', () => {
    const most = 'x'.repeat(maxEventLength - 6)
    expect(parse(`data: ${most}\n\n`)).toEqual([most])
    const isRefused = new SseParser({ takeEvent: () => {} })
    expect(() => isRefused.push(encoder.encode(`data: ${most}xx`))).toThrow(tooLarge)
  })

  fault`28`
  test('a line that never ends is too large, also as a comment', () => {
    for (const part of [`:${line}`, `{${line}`, `{\n${line}`])
      expect(() => repeat(part)).toThrow(tooLarge)
  })

  test('an event of endless lines is too large', () => {
    expect(() => repeat(`data: ${line}\n`)).toThrow(tooLarge)
  })

  /** Reads the same part until that is too much. */
  function repeat(part: string): void {
    const parser = new SseParser({ takeEvent: () => {} })
    const read = encoder.encode(part)
    for (let i = 0; i < 90; i++) parser.push(read)
  }
})
