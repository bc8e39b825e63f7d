/**
 * Reads the Markdown of an answer into a few kinds of parts. Runs in browsers too. What it does not
 * know stays text, HTML above all. Pages make elements of the parts, never markup.
 */

export type Inline =
  | { is: 'text' | 'code'; text: string }
  | { is: 'strong' | 'em'; parts: Inline[] }
  /** `url` is http or https. */
  | { is: 'link'; url: string; parts: Inline[] }

export type Block =
  | { is: 'p' | 'heading' | 'quote'; parts: Inline[] }
  | { is: 'code'; text: string }
  | { is: 'list'; ordered: boolean; start: number; items: { depth: number; parts: Inline[] }[] }
  | { is: 'rule' }

const fence = /^ {0,3}(`{3,}|~{3,})/
const heading = /^ {0,3}#{1,6} +/
const item = /^( {0,12})(?:[-*+]|(\d{1,9})[.)]) +/
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/
const quote = /^ {0,3}> ?/

/** The blocks of a text, which may end in the middle of one. */
export function readMarkdown(text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    const from = at
    const open = fence.exec(lines[at] ?? '')?.[1]
    if (open !== undefined) {
      while (++at < lines.length && !lines[at]?.trim().startsWith(open));
      blocks.push({ is: 'code', text: lines.slice(from + 1, at).join('\n') })
      at++
    } else if (lines[at]?.trim() === '') at++
    else if (rule.test(lines[at] ?? '')) {
      blocks.push({ is: 'rule' })
      at++
    } else if (heading.test(lines[at] ?? '')) {
      const words = withoutClosing(lines[at]?.replace(heading, '') ?? '')
      blocks.push({ is: 'heading', parts: readInline(words) })
      at++
    } else {
      const kind = kindOf(lines[at])
      while (++at < lines.length && goesOn(kind, lines[at] ?? ''));
      blocks.push(blockOf(kind, lines.slice(from, at)))
    }
  }
  return blocks
}

/**
 * A heading's words without the number signs that may close it (CommonMark 4.2). A pattern would
 * take the square of the time on a line of spaces.
 */
function withoutClosing(words: string): string {
  const line = words.trimEnd()
  let end = line.length
  while (line[end - 1] === '#') end--
  return end < line.length && line[end - 1] === ' ' ? line.slice(0, end).trimEnd() : line
}

type Kind = 'p' | 'quote' | 'list'

const kindOf = (line = ''): Kind => (item.test(line) ? 'list' : quote.test(line) ? 'quote' : 'p')

function goesOn(kind: Kind, line: string): boolean {
  if (line.trim() === '' || fence.test(line) || heading.test(line)) return false
  if (kind === 'list') return item.test(line) || line.startsWith('  ')
  return kindOf(line) === kind && !rule.test(line)
}

function blockOf(kind: Kind, lines: readonly string[]): Block {
  if (kind === 'list') return listOf(lines)
  const plain = kind === 'quote' ? lines.map((line) => line.replace(quote, '')) : lines
  return { is: kind, parts: readInline(plain.join('\n')) }
}

function listOf(lines: readonly string[]): Block {
  const items: { depth: number; text: string }[] = []
  for (const line of lines) {
    const found = item.exec(line)
    const last = items.at(-1)
    if (found) {
      const depth = Math.min(3, Math.floor((found[1]?.length ?? 0) / 2))
      items.push({ depth, text: line.slice(found[0].length) })
    } else if (last) last.text += `\n${line.trim()}`
  }
  const first = item.exec(lines[0] ?? '')?.[2]
  return {
    is: 'list',
    ordered: first !== undefined,
    start: Number(first ?? 1),
    items: items.map(({ depth, text }) => ({ depth, parts: readInline(text) })),
  }
}

/** The most characters between two marks: what is further apart are two marks of their own. */
const reach = 1000
const depthMax = 4

/** Text with emphasis, code and links. */
export function readInline(text: string, depth = 0): Inline[] {
  const parts: Inline[] = []
  let plain = ''
  const flush = () => {
    if (plain !== '') parts.push({ is: 'text', text: plain })
    plain = ''
  }
  for (let at = 0; at < text.length; ) {
    const found = depth < depthMax ? partAt(text, at, depth) : undefined
    if (found) {
      flush()
      parts.push(found.part)
      at = found.end
    } else if (text[at] === '\\' && /[\\`*_[\]()#>~-]/.test(text[at + 1] ?? '')) {
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
    case '*':
    case '_':
      return emphasisAt(text, at, depth)
    case 'h':
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
  const end = middle < 0 ? -1 : closing(text, ')', middle + 2)
  if (end < 0) return undefined
  const url = safeUrl(text.slice(middle + 2, end).split(' ')[0] ?? '')
  if (url === undefined) return undefined
  const parts = readInline(text.slice(at + 1, middle), Math.max(depth + 1, depthMax - 1))
  return { part: { is: 'link', url, parts }, end: end + 1 }
}

function emphasisAt(text: string, at: number, depth: number): InlineMatch {
  const sign = text[at] ?? ''
  const mark = text[at + 1] === sign ? sign + sign : sign
  const from = at + mark.length
  // In the middle of a word an underscore belongs to a name.
  if (sign === '_' && /\w/.test(text[at - 1] ?? '')) return undefined
  if (!/\S/.test(text[from] ?? '') || text[from] === sign) return undefined
  const end = closing(text, mark, from)
  if (end <= from || !/\S/.test(text[end - 1] ?? '')) return undefined
  if (sign === '_' && /\w/.test(text[end + mark.length] ?? '')) return undefined
  const parts = readInline(text.slice(from, end), depth + 1)
  return { part: { is: mark.length === 2 ? 'strong' : 'em', parts }, end: end + mark.length }
}

/** An address that stands in the text by itself. */
function addressAt(text: string, at: number): InlineMatch {
  if (/\w/.test(text[at - 1] ?? '')) return undefined
  const found = /^https?:\/\/[^\s<>"'`()[\]*]+/.exec(text.slice(at, at + reach))?.[0]
  const shown = found && withoutPoints(found)
  const url = shown && safeUrl(shown)
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
