/** Reads emphasis, code and links in a line of Markdown. Runs in browsers too. */

export type Inline =
  | { is: 'text' | 'code'; text: string }
  | { is: 'strong' | 'em' | 'del'; parts: Inline[] }
  /** `url` is http or https. */
  | { is: 'link'; url: string; parts: Inline[] }
  | { is: 'break' }

/** The most characters between two marks: what is further apart are two marks of their own. */
const reach = 1000
const depthMax = 4

/** Text with emphasis, code and links; the words of a link hold no other link. */
export function readInline(text: string, depth = 0, isLinked = false): Inline[] {
  const parts: Inline[] = []
  let plain = ''
  const flush = () => {
    if (plain !== '') parts.push({ is: 'text', text: plain })
    plain = ''
  }
  for (let at = 0; at < text.length; ) {
    const isLink = isLinked && /[[!<hw]/.test(text[at] ?? '')
    const found = depth < depthMax && !isLink ? partAt(text, at, depth) : undefined
    if (found) {
      flush()
      parts.push(found.part)
      at = found.end
    } else if (text[at] === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1]
      at += 2
    } else plain += text[at++]
  }
  flush()
  return parts
}

type InlineMatch = { part: Inline; end: number } | undefined

function partAt(text: string, at: number, depth: number): InlineMatch {
  switch (text[at]) {
    case '`':
      return codeAt(text, at)
    case '[':
      return linkAt(text, at, depth)
    case '!':
      return text[at + 1] === '[' ? linkAt(text, at + 1, depth) : undefined
    case '<':
      return bracketedAt(text, at)
    case '*':
    case '_':
      return emphasisAt(text, at, depth)
    case '~':
      return struckAt(text, at, depth)
    case '\\':
    case ' ':
      return breakAt(text, at)
    case 'h':
    case 'w':
      return addressAt(text, at)
  }
  return undefined
}

function codeAt(text: string, at: number): InlineMatch {
  const mark = /^`+/.exec(text.slice(at, at + 5))?.[0] ?? '`'
  const from = at + mark.length
  const end = closing(text, mark, from)
  if (end <= from) return undefined
  return { part: { is: 'code', text: text.slice(from, end) }, end: end + mark.length }
}

function linkAt(text: string, at: number, depth: number): InlineMatch {
  const middle = closing(text, '](', at + 1)
  const end = middle < 0 ? -1 : closingBracket(text, middle + 2)
  if (end < 0) return undefined
  const url = safeUrl(
    text
      .slice(middle + 2, end)
      .trim()
      .split(/\s/)[0] ?? '',
  )
  if (url === undefined) return undefined
  const parts = readInline(text.slice(at + 1, middle), Math.max(depth + 1, depthMax - 1), true)
  return { part: { is: 'link', url, parts }, end: end + 1 }
}

/** The bracket that closes an address, which may have pairs of them. */
function closingBracket(text: string, from: number): number {
  let open = 1
  for (let at = from; at < Math.min(text.length, from + reach); at++) {
    if (text[at] === '(') open++
    else if (text[at] === ')' && --open === 0) return at
  }
  return -1
}

function emphasisAt(text: string, at: number, depth: number): InlineMatch {
  const sign = text[at] ?? ''
  const run = runAt(text, at)
  const from = at + run
  // In the middle of a word an underscore belongs to a name.
  if (sign === '_' && /\w/.test(text[at - 1] ?? '')) return undefined
  if (run > 3 || text[at - 1] === sign || !/\S/.test(text[from] ?? '')) return undefined
  const end = closingRun(text, from, run, sign)
  if (end <= from) return undefined
  if (sign === '_' && /\w/.test(text[end + run] ?? '')) return undefined
  const parts = readInline(text.slice(from, end), depth + 1)
  const inner: Inline[] = run === 3 ? [{ is: 'em', parts }] : parts
  return { part: { is: run === 1 ? 'em' : 'strong', parts: inner }, end: end + run }
}

/** The number of the same signs from a place on, at most four. */
function runAt(text: string, at: number): number {
  let run = 1
  while (run < 4 && text[at + run] === text[at]) run++
  return run
}

/** The place of the signs that close an emphasis; those of another one inside are passed over. */
function closingRun(text: string, from: number, run: number, sign: string): number {
  let at = closing(text, sign, from)
  while (at >= 0) {
    const found = runAt(text, at)
    const fits = found === run || (found === 3 && run < 3)
    if (fits && /\S/.test(text[at - 1] ?? '')) return at + found - run
    const next = text.slice(at + found, from + reach).indexOf(sign)
    at = next < 0 ? -1 : at + found + next
  }
  return -1
}

function struckAt(text: string, at: number, depth: number): InlineMatch {
  const mark = text[at + 1] === '~' ? '~~' : '~'
  const from = at + mark.length
  if (text[at - 1] === '~' || !/[^\s~]/.test(text[from] ?? '')) return undefined
  const end = closing(text, mark, from)
  if (end <= from || !/\S/.test(text[end - 1] ?? '') || text[end + mark.length] === '~')
    return undefined
  const parts = readInline(text.slice(from, end), depth + 1)
  return { part: { is: 'del', parts }, end: end + mark.length }
}

/** Two spaces or a backslash at the end of a line break it. */
function breakAt(text: string, at: number): InlineMatch {
  const mark = text[at] === ' ' && text[at - 1] !== ' ' ? / {2,50}\n/y : /\\\n/y
  mark.lastIndex = at
  return mark.test(text) ? { part: { is: 'break' }, end: mark.lastIndex } : undefined
}

/** An address between angle brackets. */
function bracketedAt(text: string, at: number): InlineMatch {
  const end = closing(text, '>', at + 1)
  const shown = end < 0 ? '' : text.slice(at + 1, end)
  const url = /[\s<]/.test(shown) ? undefined : safeUrl(shown)
  if (!url) return undefined
  return { part: { is: 'link', url, parts: [{ is: 'text', text: shown }] }, end: end + 1 }
}

/** An address that stands in the text by itself. */
function addressAt(text: string, at: number): InlineMatch {
  if (/\w/.test(text[at - 1] ?? '')) return undefined
  const isNamed = text.startsWith('www.', at)
  if (!isNamed && !text.startsWith('http', at)) return undefined
  const found = /^(?:https?:\/\/|www\.)[^\s<>"'`()[\]*|~]+/.exec(text.slice(at, at + reach))?.[0]
  const shown = found && withoutPoints(found)
  const url = shown && safeUrl(isNamed ? `https://${shown}` : shown)
  if (!url) return undefined
  return { part: { is: 'link', url, parts: [{ is: 'text', text: shown }] }, end: at + shown.length }
}

/** Without the points of the sentence around it. */
function withoutPoints(address: string): string {
  let end = address.length
  while (end > 0 && '.,;:!?'.includes(address[end - 1] ?? '')) end--
  return address.slice(0, end)
}

function closing(text: string, mark: string, from: number): number {
  const end = text.slice(from, from + reach).indexOf(mark)
  return end < 0 ? -1 : from + end
}

/** An http or https address as browsers read it; undefined for every other one. */
function safeUrl(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).href
}

/** The words of parts, without their marks. */
export const plainOf = (parts: readonly Inline[]): string =>
  parts
    .map((part) => ('parts' in part ? plainOf(part.parts) : part.is === 'break' ? ' ' : part.text))
    .join('')
