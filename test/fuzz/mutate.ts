import type { Json } from '../../src/kernel/canonical.ts'
import type { Prng } from '../ledger/prng.ts'

/** The longest text that a mutation makes, in UTF-16 units. */
export const mostLength = 128 * 1024

/** Pieces of text that readers trip over. */
const oddTexts = [
  ...['', ' ', '\0', '\t', '\r', '\n', '\r\n', '\r\n\r\n', '\n\n', '\u0085', '\u2028', '\ufeff'],
  ...['\ud800', '\udc00', '\udc00\ud800', '\ud83d\ude00', '\u202e', '\u2066', '\u200b', '\u0130'],
  ...['\u0301'.repeat(40), 'ﬃ', '５', '٣', 'ſ', '＝', '𝟘', 'ä', '\x1b[31m', '\x7f'],
  ...['%', '%0', '%00', '%ff', '%c0%ae', '%2e%2e%2f', '%u0000', '../', '..\\', '//', '\\', '/'],
  ...["'", '"', '`', '<', '>', '&', ';', ',', ':', '=', '@', '#', '?', '*', '|', '$', '~', '^'],
  ...['<script>', '-->', '#{x}', '{{x}}', "' or 1=1--", '=cmd|calc!A0', '\\u0000', '\\ud800'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'toJSON', 'then', 'length'],
  ...['null', 'undefined', 'NaN', 'Infinity', 'true', '[]', '{}', '[', ']', '{', '}', '(', ')'],
  ...['0', '-0', '-1', '+1', '00', '0.1', '.5', '5.', '1e3', '1e400', '-1e400', '0x10', '1_000'],
  ...['9007199254740993', '9000000000000001', '18446744073709551616', '1'.repeat(400), '1,5'],
  ...['2026-02-30', '0000-01-01T00:00:00Z', '9999-12-31T23:59:60Z', '2026-01-01T00:00:00+24:00'],
  ...['0x', '0xg', `0x${'f'.repeat(40)}`, `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`],
] as const

const oddNumbers = [
  ...[0, -0, 1, -1, 0.5, 1e-9, 31, 32, 33, 255, 256, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 64],
  ...[-(2 ** 53), 9e15, 9e15 + 2, 1e21, 1e300, -1e300, 5e-324, 1.7976931348623157e308],
]

const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  '',
  '\0',
  'é',
]

/** Stands for a value that no object can hold: JSON is written by hand in its place. */
const rawMark = '\u0001raw:'

/** JSON that cannot be made from values: deep, doubled, too large. */
const rawJsons = [
  ...[
    '1e400',
    '-1e400',
    '-0',
    '1E+2',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '{"a":1,"a":2}',
  ],
  ...['{"__proto__":{"a":1}}', '{"toString":1,"valueOf":1}', '{"length":4294967296}'],
  ...[10, 31, 32, 33, 1000, 20_000, 60_000].map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  ...[31, 33, 5000].map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
]

/** Changes a text in one to four places; `others` are texts to take pieces from. */
export function mutateText(prng: Prng, text: string, others: readonly string[] = []): string {
  let out = text
  for (let times = 1 + prng.below(4); times > 0; times--) {
    out = prng.pick(textChanges)(prng, out, others.length === 0 ? [text] : others)
  }
  return out.slice(0, mostLength)
}

type TextChange = (prng: Prng, text: string, others: readonly string[]) => string

const textChanges: readonly TextChange[] = [
  // A piece of something else, between or instead of what is there.
  (prng, text) => insert(text, prng.below(text.length + 1), prng.pick(oddTexts)),
  (prng, text) => replaceSpan(prng, text, prng.pick(oddTexts)),
  (prng, text) => replaceWord(prng, text, prng.pick(oddTexts)),
  (prng, text, others) => {
    const other = prng.pick(others)
    return text.slice(0, prng.below(text.length + 1)) + other.slice(prng.below(other.length + 1))
  },
  // Less of it.
  (prng, text) => text.slice(0, prng.below(text.length + 1)),
  (prng, text) => replaceSpan(prng, text, ''),
  // More of it.
  (prng, text) => {
    const [from, to] = spanOf(prng, text)
    return insert(text, to, text.slice(from, to))
  },
  (prng, text) => {
    const [from, to] = spanOf(prng, text)
    const piece = text.slice(from, Math.min(to, from + 1 + prng.below(24)))
    return insert(text, to, repeated(prng, piece))
  },
  (prng, text) => insert(text, prng.below(text.length + 1), repeated(prng, prng.pick(oddTexts))),
  // Something else in its place.
  (prng, text) => {
    const at = prng.below(text.length + 1)
    const code = text.charCodeAt(at) || 0
    return (
      text.slice(0, at) + String.fromCharCode(code ^ (1 << prng.below(16))) + text.slice(at + 1)
    )
  },
  (prng, text) => {
    const at = prng.below(text.length + 1)
    return text.slice(at) + text.slice(0, at)
  },
  (prng, text) => replaceSpan(prng, text, String.fromCharCode(prng.below(0x1_0000))),
  (prng, text) => (prng.below(2) === 0 ? text.toUpperCase() : text.toLowerCase()),
  (prng, text) => text.replace(/\n|\r\n?/g, prng.pick(['\r', '\r\n', '\n\n', '\u2028', ' '])),
]

/** Changes bytes: as text, and then in ways that no text has. */
export function mutateBytes(prng: Prng, bytes: Uint8Array, others: readonly string[]): Uint8Array {
  const isText = prng.below(2) === 0
  const text = isText ? mutateText(prng, Buffer.from(bytes).toString(), others) : undefined
  const out = Buffer.from(text ?? bytes)
  for (let times = prng.below(4); times > 0 && out.length > 0; times--) {
    const at = prng.below(out.length)
    out[at] = prng.below(2) === 0 ? (out[at] ?? 0) ^ (1 << prng.below(8)) : prng.below(256)
  }
  if (prng.below(3) > 0) return out
  // Overlong, half of a character, a surrogate, beyond the end of Unicode.
  const broken = prng.pick(['ff', 'c080', 'e2', 'eda080', 'f4908080', 'efbbbf', 'fffe', '00'])
  const at = prng.below(out.length + 1)
  return Buffer.concat([out.subarray(0, at), Buffer.from(broken, 'hex'), out.subarray(at)])
}

/** The text of a JSON value that is like `value`; now and then of no JSON at all. */
export function mutateJson(prng: Prng, value: Json): string {
  let changed = value
  for (let times = 1 + prng.below(3); times > 0; times--) changed = changeAt(prng, changed)
  const text = JSON.stringify(changed).replace(/"\\u0001raw:(\d+)"/g, (_, at) => rawJsons[at] ?? '')
  return prng.below(8) === 0 ? mutateText(prng, text) : text.slice(0, 8 * mostLength)
}

/** Changes a member somewhere below a value, or the value itself. */
function changeAt(prng: Prng, value: Json): Json {
  const isInner = typeof value === 'object' && value !== null
  if (!isInner || prng.below(6) === 0) return changeValue(prng, value)
  if (Array.isArray(value)) {
    if (value.length === 0 || prng.below(6) === 0) return changeList(prng, value)
    const at = prng.below(value.length)
    return value.map((item, i) => (i === at ? changeAt(prng, item) : item))
  }
  const names = Object.keys(value)
  if (names.length === 0 || prng.below(6) === 0) return changeMembers(prng, value)
  const name = prng.pick(names)
  return withMember(value, name, changeAt(prng, value[name] ?? null))
}

function changeValue(prng: Prng, value: Json): Json {
  switch (prng.below(10)) {
    case 0:
      return prng.pick<Json>([null, true, false, [], {}, '', [[]], [null], { a: 1 }])
    case 1:
      return prng.pick(oddNumbers)
    case 2:
      return prng.pick(oddTexts)
    case 3:
      return `${rawMark}${prng.below(rawJsons.length)}`
    case 4:
      return [value]
    case 5:
      return { value }
    case 6:
      return typeof value === 'number' ? String(value) : repeated(prng, prng.pick(oddTexts))
    default:
      if (typeof value === 'string') return mutateText(prng, value)
      if (typeof value === 'number') return value + prng.pick([1, -1, 0.5, 1e6, 2 ** 53, -value])
      return prng.pick(oddTexts)
  }
}

function changeList(prng: Prng, list: readonly Json[]): Json {
  const at = prng.below(list.length + 1)
  const item = list[at] ?? list[0] ?? null
  switch (prng.below(4)) {
    case 0:
      return list.filter((_, i) => i !== at)
    case 1:
      return list.toSpliced(at, 0, item)
    case 2:
      return Array<Json>(prng.pick([20, 101, 1001, 5000])).fill(item)
    default:
      return list.toReversed()
  }
}

function changeMembers(prng: Prng, members: { [name: string]: Json }): Json {
  const names = Object.keys(members)
  const [one, other] = [prng.below(names.length + 1), prng.below(names.length + 1)]
  const [from = 'a', to = 'b'] = [names[one], names[other]]
  switch (prng.below(5)) {
    case 0:
      return Object.fromEntries(Object.entries(members).filter(([name]) => name !== from))
    case 1:
      return withMember(members, prng.pick(oddNames), changeValue(prng, members[from] ?? null))
    case 2:
      return withMember(members, to, members[from] ?? null)
    case 3:
      return withMember(members, mutateText(prng, from).slice(0, 300), members[from] ?? null)
    default: {
      const many = Array.from({ length: prng.pick([17, 200, 3000]) }, (_, i) => [`m${i}`, i])
      return { ...members, ...Object.fromEntries(many) }
    }
  }
}

/** `__proto__` becomes a member like any other, as in what JSON.parse gives. */
const withMember = (members: { [name: string]: Json }, name: string, value: Json) =>
  Object.fromEntries([...Object.entries(members).filter(([one]) => one !== name), [name, value]])

const insert = (text: string, at: number, piece: string): string =>
  text.slice(0, at) + piece + text.slice(at)

function spanOf(prng: Prng, text: string): [from: number, to: number] {
  const from = prng.below(text.length + 1)
  return [
    from,
    Math.min(text.length, from + prng.below(prng.below(8) === 0 ? text.length + 1 : 16)),
  ]
}

function replaceSpan(prng: Prng, text: string, piece: string): string {
  const [from, to] = spanOf(prng, text)
  return text.slice(0, from) + piece + text.slice(to)
}

/** Another word where one stands: most forms are words with signs between. */
function replaceWord(prng: Prng, text: string, piece: string): string {
  const words = [...text.slice(0, 4096).matchAll(/\w+/g)]
  if (words.length === 0) return piece
  const { 0: word, index } = prng.pick(words)
  return text.slice(0, index) + piece + text.slice(index + word.length)
}

/** A piece many times, or more often than anyone would think. */
function repeated(prng: Prng, piece: string): string {
  const times = prng.pick([2, 3, 10, 50, 300, 3000, 30_000])
  return piece.repeat(Math.min(times, Math.ceil(mostLength / Math.max(1, piece.length))))
}

/** Cuts a whole in up to eight pieces, in places that no one chose. */
export function cut(prng: Prng, bytes: Uint8Array): Uint8Array[] {
  const places = Array.from({ length: prng.below(8) }, () => prng.below(bytes.length + 1))
  const edges = [0, ...places.sort((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
}
