/** Splits text into words for the built-in models. */

/**
 * A text as words, each with the white space before it, the last also with what follows it: joined
 * they are the text again. White space alone is one word; the empty text has none.
 * Stops after `most` words; `more` tells whether that left any out.
 */
export function splitWords(text: string, most: number): { words: string[]; more: boolean } {
  const words: string[] = []
  const word = /\s*\S+/y
  let from = 0
  while (words.length < most && word.test(text)) {
    words.push(text.slice(from, word.lastIndex))
    from = word.lastIndex
  }
  const rest = text.slice(from)
  if (/\S/.test(rest)) return { words, more: true }
  const last = (words.pop() ?? '') + rest
  if (last !== '') words.push(last)
  return { words, more: false }
}

/** How many words a text has: runs without white space. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}
