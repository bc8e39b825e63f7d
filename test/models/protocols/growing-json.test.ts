import { describe, expect, test } from 'bun:test'
import { CallsInTurn } from '../../../src/models/protocols/calls-in-turn.ts'
import { GrowingJson } from '../../../src/models/protocols/growing-json.ts'
import { OpenItems } from '../../../src/models/protocols/responses/open-items.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const texts = [
  ...['{}', ' {"a":[1,{"b":"}"}]} ', '[{}, "\\"]"]', '{"a":"\\\\"}', '{} {}', '{}x', '[}', '1'],
  ...[
    '"}"',
    'null',
    '{"a":}',
    '{"a":"\\u00e9é}"}',
    '\u00a0{}',
    '{}\u00a0',
    '}{',
    '[[]',
    '{"a":1}\n',
  ],
]

describe('a text of JSON that comes in pieces', () => {
  test.each(texts)('%j is whole where all of it would parse', (text) => {
    for (const size of [1, 2, 3, 100]) {
      const growing = new GrowingJson()
      let so = ''
      for (let at = 0; at < text.length; at += size) {
        const piece = text.slice(at, at + size)
        growing.add(piece)
        so += piece
        expect(growing.isWhole).toBe(/[}\]]\s*$/.test(so) && isJson(so))
        expect(growing.isWholeObject).toBe(so.trimEnd().endsWith('}') && isJson(so))
      }
      expect(growing.toString()).toBe(text)
      expect(growing.equals(text)).toBe(true)
      expect(growing.equals(`${text} `)).toBe(false)
    }
  })
})

describe('calls whose pieces come mixed', () => {
  const piece = (index: number, args: string) => ({ index, function: { arguments: args } })

  test('later calls wait in their order until the one before them is whole', () => {
    const calls = new CallsInTurn()
    expect(calls.add(piece(0, '{'))).toEqual([piece(0, '{')])
    expect(calls.add(piece(1, '{'))).toEqual([])
    expect(calls.add(piece(2, '{}'))).toEqual([])
    expect(calls.add(piece(0, '}'))).toEqual([piece(0, '}')])
    expect(calls.isOpen).toBe(true)
    expect(calls.add(piece(1, '}'))).toEqual([piece(1, '{'), piece(1, '}')])
    expect(calls.isOpen).toBe(false)
    expect(calls.rest()).toEqual([piece(2, '{}')])
    expect(calls.isOpen).toBe(false)
  })
})

test.each(['output_text', 'refusal', 'reasoning_summary_text'])(
  'a %s at a place beyond all others costs no more than one beside them',
  (event) => {
    const item = new OpenItems().add(0, { type: 'message', id: 'a' })
    item.add(event, 4_000_000_000, 'last')
    item.add(event, 0, 'first')
    const begun = performance.now()
    const { content, summary } = item.whole()
    expect(performance.now() - begun).toBeLessThan(500)
    const parts = event === 'reasoning_summary_text' ? summary : content
    expect(parts).toMatchObject([{}, {}])
    expect(JSON.stringify(parts)).toMatch(/first.*last/)
  },
)
