/** Measures JSON text before it is parsed. */

/** The depth of nesting, the count of objects, lists and members, and that of the commas. */
export type JsonSize = { depth: number; parts: number; commas: number }

/** Any text up to this length parses fast, in UTF-16 units. */
const harmless = 16 * 1024

/**
 * Counts what makes JSON.parse slow: megabytes of brackets and colons cost a hundred times the
 * usual. Undefined for a short text. Invalid JSON is left to the parser.
 */
export function jsonSizeOf(text: string): JsonSize | undefined {
  if (text.length <= harmless) return undefined
  const size = { depth: 0, parts: 0, commas: 0 }
  let open = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === comma) size.commas++
    else if (code === colon) size.parts++
    else if (code === bracket || code === brace) {
      size.parts++
      open++
      if (open > size.depth) size.depth = open
    } else if (code === bracket + 2 || code === brace + 2) open--
  }
  return size
}

/** Limits of another server's JSON: parsing it, and writing ours from it, block the event loop. */
const most = { depth: 100, parts: 1_000_000 }

/** Whether a text of another server is worth parsing. */
export function isModestJson(text: string): boolean {
  const { depth, parts } = jsonSizeOf(text) ?? { depth: 0, parts: 0 }
  return depth <= most.depth && parts <= most.parts
}

const [quote, comma, colon, bracket, brace, backslash] = [0x22, 0x2c, 0x3a, 0x5b, 0x7b, 0x5c]

/** The index of the quote that closes the string at `from`; the end of the text without one. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return at
  }
}
