/** Lines of an answer, and characters of a line. */
const maxLines = 200
const maxChars = 4000

/**
 * What could move the cursor, change colours or turn the direction of a terminal or a page:
 * control characters, the marks of bidirectional text, separators of lines, halves of pairs.
 */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Text that is shown as it is and does nothing else: what is unsafe stands as `\u{1b}`. */
export const plain = (text: string): string =>
  text
    .replaceAll('\t', '    ')
    .replace(unsafe, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)

/** A text as plain lines, not too many and none too long. */
export function toLines(text: string): string[] {
  const all = text.split(/\r\n|\r|\n/)
  const shown = all.slice(0, maxLines).map((line) => shortened(plain(line)))
  return all.length > maxLines ? [...shown, `… ${all.length - maxLines} more lines`] : shown
}

/** Plain text that keeps its line breaks, for a piece of an answer on its way. */
export const plainPiece = (text: string): string => text.split('\n').map(plain).join('\n')

const shortened = (line: string): string =>
  line.length > maxChars ? `${line.slice(0, maxChars)}…` : line

/** Names and values below each other. */
export function columns(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}
