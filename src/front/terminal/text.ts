/** Makes text safe to show in a terminal or on a page. */
/** Most lines of an answer, and most characters of a line. */
const maxLines = 200
const maxChars = 4000

/**
 * Characters that could move the cursor, change colours or reverse the text direction: control
 * characters, bidirectional marks, line separators and lone surrogates.
 */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Escapes unsafe characters as `\u{1b}`. */
export const plain = (text: string): string =>
  text
    .replaceAll('\t', '    ')
    .replace(unsafe, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)

/** A text as plain lines, bounded in number and length. */
export function toLines(text: string): string[] {
  const all = text.split(/\r\n|\r|\n/)
  const shown = all.slice(0, maxLines).map((line) => shortened(plain(line)))
  return all.length > maxLines ? [...shown, `… ${all.length - maxLines} more lines`] : shown
}

/** Plain text that keeps its line breaks, for a piece of a streamed answer. */
export const plainPiece = (text: string): string => text.split('\n').map(plain).join('\n')

const shortened = (line: string): string =>
  line.length > maxChars ? `${line.slice(0, maxChars)}…` : line

/** Names and values as aligned lines. */
export function columns(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}
