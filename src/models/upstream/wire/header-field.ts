/** Reads HTTP header fields strictly. */

/** Token characters (RFC 9110 §5.6.2), for use inside of a regular expression's brackets. */
export const tchar = "!#-'*+\\-.^-`|~\\w"

/** The characters of a field value or a reason phrase: VCHAR, obs-text, SP and HTAB. */
export const textChar = '\\t -~\\x80-\\xff'

export type Field = { /** In lower case. */ name: string; value: string }

const line = new RegExp(`^([${tchar}]+):([${textChar}]*)$`)

/**
 * Reads a field line (RFC 9112 §5) without its CRLF, where each character is one byte. Undefined
 * for anything else: folded lines, white space before the colon, control characters.
 */
export function readField(text: string): Field | undefined {
  const [, name, value] = line.exec(text) ?? []
  if (name === undefined || value === undefined) return undefined
  return { name: name.toLowerCase(), value: withoutSpace(value) }
}

/** A text without the SP and HTAB around it. No other character is white space in HTTP. */
export function withoutSpace(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return from === 0 && to === text.length ? text : text.slice(from, to)
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** Fields that say where a body ends or how it is packed. They must not stand in a trailer. */
export const framingFields: readonly string[] = [
  'content-length',
  'transfer-encoding',
  'content-encoding',
  'connection',
]
