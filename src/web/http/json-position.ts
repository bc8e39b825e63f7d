/** A place in a text: `offset` in UTF-16 units from 0, `line` and `column` from 1. */
export type JsonPosition = { offset: number; line: number; column: number }

const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y
const escaped = /\\u[0-9a-fA-F]{4}/y
/** A character that ends a run of plain ones in a string. */
const special = /["\\]|[^ -\uffff]/g

/** Tokens that the grammar allows at a point of a JSON text. */
type Expected = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'end'

/** Tokens that are looked through: in a longer text a place is not worth the time. */
const mostTokens = 200_000

/**
 * The first place where a text that JSON.parse refused breaks the grammar (RFC 8259 §2); undefined
 * behind {@link mostTokens}. The engine's own message has no position, and may quote the text,
 * which we never echo.
 */
export function findJsonError(text: string): JsonPosition | undefined {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = 0
  for (let tokens = 0; tokens < mostTokens; tokens++) {
    at = skipSpace(text, at)
    const end = skipToken(text, at)
    const next: Expected | undefined = end > at ? step(expected, text.charAt(at), open) : undefined
    if (next === undefined) return positionOf(text, at)
    expected = next
    at = end
  }
  return undefined
}

/** The tokens allowed after one that starts with `first`; undefined if it is itself not allowed. */
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

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at
    at++
  }
}

/** The end of the token that starts at `from`, or `from` when none does. */
function skipToken(text: string, from: number): number {
  const first = text.charAt(from)
  if (first === '"') return skipString(text, from)
  if (first !== '' && '[]{}:,'.includes(first)) return from + 1
  return skip(word, text, from)
}

function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}

/** The end of the string that starts at `from`, or `from` when it is none. Always linear. */
function skipString(text: string, from: number): number {
  let at = from + 1
  for (;;) {
    special.lastIndex = at
    if (!special.test(text)) return from
    const found = special.lastIndex - 1
    const char = text.charAt(found)
    if (char === '"') return found + 1
    const isPlain = char === '\\' && '"\\/bfnrt'.includes(text.charAt(found + 1) || '\0')
    at = isPlain ? found + 2 : char === '\\' ? skip(escaped, text, found) : found
    // A control character, or an escape that is none.
    if (at === found) return from
  }
}

function positionOf(text: string, offset: number): JsonPosition {
  let line = 1
  let start = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', start)) {
    line++
    start = at + 1
  }
  return { offset, line, column: offset - start + 1 }
}
