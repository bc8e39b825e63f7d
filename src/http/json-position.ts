/** A place in a text: `offset` in UTF-16 units from 0, `line` and `column` from 1. */
export type JsonPosition = { offset: number; line: number; column: number }

const token =
  /[[\]{}:,]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const space = /[ \t\r\n]*/y

/** What may stand at a point of a JSON text. */
type Expected = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'end'

/**
 * The first place where a text that JSON.parse refused breaks the grammar (RFC 8259 §2). The
 * engine's own message has no position, and may quote the text, which we never echo.
 */
export function findJsonError(text: string): JsonPosition {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = 0
  while (true) {
    at = skip(space, text, at)
    const end = text[at] === '"' ? skipString(text, at) : skip(token, text, at)
    const next: Expected | undefined = end > at ? step(expected, text.charAt(at), open) : undefined
    if (next === undefined) return positionOf(text, at)
    expected = next
    at = end
  }
}

/** What may follow a token that starts with `first`; undefined when it may not stand here. */
function step(expected: Expected, first: string, open: string[]): Expected | undefined {
  if (first === ']' || first === '}') {
    const opener = first === ']' ? '[' : '{'
    const allowed = first === ']' ? 'value-or-end' : 'name-or-end'
    if (expected !== allowed && expected !== 'comma-or-end') return undefined
    return open.pop() === opener ? after(open) : undefined
  }
  if (expected === 'colon') return first === ':' ? 'value' : undefined
  if (expected === 'comma-or-end') {
    if (first !== ',') return undefined
    return open.at(-1) === '{' ? 'name' : 'value'
  }
  if (expected === 'name' || expected === 'name-or-end') return first === '"' ? 'colon' : undefined
  if (expected === 'end' || first === ':' || first === ',') return undefined
  if (first !== '[' && first !== '{') return after(open)
  open.push(first)
  return first === '[' ? 'value-or-end' : 'name-or-end'
}

const after = (open: string[]): Expected => (open.length === 0 ? 'end' : 'comma-or-end')

function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}

/** The end of the string that starts at `from`, or `from` when it is none. Always linear. */
function skipString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '"') return at + 1
    if (char < ' ') return from
    const next = char === '\\' ? skip(escaped, text, at) : at + 1
    if (next === at) return from
    at = next
  }
  return from
}

function positionOf(text: string, offset: number): JsonPosition {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { offset, line: before.split('\n').length, column: offset - lineStart + 1 }
}
