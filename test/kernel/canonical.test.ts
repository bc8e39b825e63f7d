import { describe, expect, test } from 'bun:test'
import canonicalize from 'canonicalize'
import { canonical, type Json } from '../../src/kernel/canonical.ts'

describe('the standard serialisation is what the library makes of it', () => {
  const values: Record<string, unknown> = {
    'members out of order, at every level': { b: [{ z: 1, a: { y: null, x: true } }], a: 'ü' },
    'members by their UTF-16 units': { '€': 1, '\r': 2, דּ: 3, '😀': 4, '\u0080': 5, ö: 6 },
    'names that an object keeps first': { '10': 1, '9': 2, a: 3, '-': 4, '01': 5 },
    'a name that means something else': JSON.parse('{"b":1,"__proto__":{"a":2},"a":3}'),
    'what looks like half a pair': { text: '\\ud800 and \\\\udfff' },
    numbers: [0, -0, 1e21, 1e-7, 333333333.3333333, 4.5, 2e-3, 1e23, Number.MAX_SAFE_INTEGER],
    texts: ['', '"\\/\b\f\n\r\t', '\u0000\u001f\u007f', '\u2028', '😀'],
    'nothing in it': [{}, [], '', null],
    'a member that is undefined': { b: undefined, a: 1 },
    'what writes itself': { at: new Date(0) },
  }
  for (const [name, value] of Object.entries(values)) {
    test(name, () => expect(canonical(value)).toBe(canonicalize(value) ?? ''))
  }
})

test('values made up at random, against the library', () => {
  let state = 7
  const below = (n: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % n
  }
  const words = ['a', 'b', 'role', '1', 'Z', 'é', '😀', '\\ud8', 'toJSON', '', '-1', 'content']
  const word = () => words[below(words.length)] ?? ''
  const make = (levels: number): Json => {
    const kind = below(levels > 0 ? 7 : 5)
    if (kind === 0) return null
    if (kind === 1) return below(2) === 0
    if (kind === 2) return (below(2_000_001) - 1_000_000) / 10 ** below(9)
    if (kind < 5) return word() + word()
    if (kind === 5) return Array.from({ length: below(5) }, () => make(levels - 1))
    return Object.fromEntries(Array.from({ length: below(14) }, () => [word(), make(levels - 1)]))
  }
  for (let i = 0; i < 2000; i++) {
    const value = make(4)
    expect(canonical(value)).toBe(canonicalize(value) ?? '')
  }
})

test.each([[Number.NaN], [Number.POSITIVE_INFINITY], ['\ud800'], [{ '\udc00': 1 }]])(
  'what has no such form is refused: %p',
  (value) => expect(() => canonical({ a: [value] })).toThrow(),
)

test('a value that is not JSON is refused', () => {
  expect(() => canonical(undefined)).toThrow(TypeError)
})
