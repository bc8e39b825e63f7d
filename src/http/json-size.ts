import { refuse } from '../kernel/refusal.ts'

/** Deeper values are refused before anything walks them. */
export const maxJsonDepth = 32
/** Objects, lists and members of one body, together. */
export const maxJsonParts = 100_000

/** UTF-16 units of a text that is parsed in a moment, whatever is in it. */
const harmless = 16 * 1024

/**
 * Refuses a long text that would take JSON.parse long: megabytes of brackets or of members cost it
 * a hundred times what a text of that length does. What is no JSON is for the parser to say.
 * @throws Refusal 'invalid_request'
 */
export function assertModest(text: string): void {
  if (text.length <= harmless) return
  let depth = 0
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === colon) parts++
    else if (code === bracket || code === brace) {
      parts++
      if (++depth > maxJsonDepth) refuseDeep()
    } else if (code === bracket + 2 || code === brace + 2) depth--
  }
  if (parts > maxJsonParts) {
    const message = `The body holds more than ${maxJsonParts} objects, lists and members.`
    refuse('invalid_request', message)
  }
}

export function refuseDeep(): never {
  refuse('invalid_request', `The body is nested deeper than ${maxJsonDepth} levels.`)
}

const [quote, colon, bracket, brace, backslash] = [0x22, 0x3a, 0x5b, 0x7b, 0x5c]

/** Where the string that begins at `from` has its closing quote, or the text its end. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return at
  }
}
