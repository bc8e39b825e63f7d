/**
 * Reads the Markdown of a text: CommonMark's usual blocks and those of GitHub. Runs in browsers
 * too. HTML stays text. Pages make elements of the blocks, never markup. Every text is read in
 * time that grows with its length alone, because models and people write it.
 */
import { type Inline, plainOf, readInline } from './markdown-inline.ts'

type Align = 'left' | 'center' | 'right' | ''

export type Block =
  | { is: 'p' | 'heading'; parts: Inline[] }
  | { is: 'quote'; blocks: Block[] }
  /** `language` as the text names it, or empty. */
  | { is: 'code'; text: string; language: string }
  | { is: 'list'; ordered: boolean; start: number; items: Item[] }
  | { is: 'table'; align: Align[]; head: Inline[][]; rows: Inline[][][] }
  | { is: 'rule' }

/** `done`: of a task, whether it is done. */
export type Item = { blocks: Block[]; done?: boolean }

const fence = /^( {0,3})(`{3,}|~{3,})/
const heading = /^ {0,3}#{1,6}(?: +|$)/
const marker = /^( {0,3})(?:([-*+])|(\d{1,9})([.)]))(?: +|$)/
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/
const underline = /^ {0,3}(?:=+|-+) *$/
const quote = /^ {0,3}> ?/
const task = /^\[([ xX])\] +/

/** Deeper lists and quotes are text. */
const depthMax = 6
/** A wider table is text: a short row is as wide as its head, so many of them would be large. */
const columnsMax = 60

/** The blocks of a text, which may end in the middle of one. */
export function readMarkdown(text: string): Block[] {
  return blocksOf(text.replaceAll('\t', '    ').split('\n'), 0)
}

/** One block and the line behind it. */
type BlockEnd = { block: Block; end: number }

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) at++
    else {
      const { block, end } = blockAt(lines, at, depth)
      blocks.push(block)
      at = end
    }
  }
  return blocks
}

function blockAt(lines: readonly string[], at: number, depth: number): BlockEnd {
  const line = lines[at] ?? ''
  const isDeep = depth >= depthMax
  if (isFence(line)) return codeAt(lines, at)
  if (rule.test(line)) return { block: { is: 'rule' }, end: at + 1 }
  if (heading.test(line)) {
    const parts = readInline(withoutClosing(line.replace(heading, '')))
    return { block: { is: 'heading', parts }, end: at + 1 }
  }
  if (!isDeep && quote.test(line)) return quoteAt(lines, at, depth)
  if (!isDeep && marker.test(line)) return listAt(lines, at, depth)
  return tableAt(lines, at) ?? paragraphAt(lines, at, isDeep)
}

const isBlank = (line = ''): boolean => line.trim() === ''

function codeAt(lines: readonly string[], at: number): BlockEnd {
  const [whole = '', indent = '', mark = ''] = fence.exec(lines[at] ?? '') ?? []
  let end = at + 1
  while (end < lines.length && !isClosing(lines[end] ?? '', mark)) end++
  const text = lines.slice(at + 1, end).map((line) => withoutIndent(line, indent.length))
  const language = (lines[at] ?? '').slice(whole.length).trim().split(/\s/)[0]?.slice(0, 30) ?? ''
  return { block: { is: 'code', text: text.join('\n'), language }, end: end + 1 }
}

/** Backticks that more of them follow are code in a line. */
function isFence(line: string): boolean {
  const found = fence.exec(line)
  return found !== null && !(found[2]?.startsWith('`') && line.includes('`', found[0].length))
}

function isClosing(line: string, mark: string): boolean {
  const said = line.trim()
  return said.startsWith(mark) && said.replaceAll(mark[0] ?? '', '') === ''
}

/** The line without as many of its first spaces. */
const withoutIndent = (line: string, most: number): string =>
  line.slice(Math.min(most, indentOf(line)))

const indentOf = (line: string): number => line.length - line.trimStart().length

/**
 * A heading's words without the number signs that may close it (CommonMark 4.2). A pattern would
 * take the square of the time on a line of spaces.
 */
function withoutClosing(words: string): string {
  const line = words.trimEnd()
  let end = line.length
  while (line[end - 1] === '#') end--
  return end < line.length && (end === 0 || line[end - 1] === ' ')
    ? line.slice(0, end).trimEnd()
    : line
}

function quoteAt(lines: readonly string[], at: number, depth: number): BlockEnd {
  let end = at
  while (end < lines.length && quote.test(lines[end] ?? '')) end++
  const inner = lines.slice(at, end).map((line) => line.replace(quote, ''))
  return { block: { is: 'quote', blocks: blocksOf(inner, depth + 1) }, end }
}

/** Whether a line ends the paragraph above it. */
const begins = (line: string, isDeep = false): boolean =>
  isBlank(line) ||
  isFence(line) ||
  heading.test(line) ||
  rule.test(line) ||
  (!isDeep && (quote.test(line) || marker.test(line)))

function paragraphAt(lines: readonly string[], at: number, isDeep: boolean): BlockEnd {
  let end = at + 1
  while (end < lines.length && !underline.test(lines[end] ?? '')) {
    if (begins(lines[end] ?? '', isDeep)) break
    end++
  }
  const parts = readInline(joined(lines.slice(at, end)))
  const isTitle = end < lines.length && underline.test(lines[end] ?? '')
  return { block: { is: isTitle ? 'heading' : 'p', parts }, end: isTitle ? end + 1 : end }
}

/** The lines without their indents, and without what the last one ends with. */
const joined = (lines: readonly string[]): string =>
  lines
    .map((line) => line.trimStart())
    .join('\n')
    .trimEnd()

/**
 * A list takes in every line that is indented by two spaces or more, as models write them, and
 * blank lines before one.
 */
function listAt(lines: readonly string[], at: number, depth: number): BlockEnd {
  const [, , bullet, first, closing] = marker.exec(lines[at] ?? '') ?? []
  const items: string[][] = []
  let end = at
  while (end < lines.length) {
    const line = lines[end] ?? ''
    const found = rule.test(line) ? null : marker.exec(line)
    const offset = found?.[0].length ?? 0
    if (found && found[2] === bullet && found[4] === closing) {
      const next = itemEnd(lines, end)
      const rest = lines.slice(end + 1, next).map((one) => withoutIndent(one, offset))
      items.push([line.slice(offset), ...rest])
      end = next
      continue
    }
    const after = pastBlanks(lines, end)
    if (after === end || !isSibling(lines[after], bullet, closing)) break
    end = after
  }
  const block: Block = {
    is: 'list',
    ordered: bullet === undefined,
    start: Number(first ?? 1),
    items: items.map((item) => itemOf(item, depth)),
  }
  return { block, end }
}

function isSibling(line = '', bullet?: string, closing?: string): boolean {
  const found = rule.test(line) ? null : marker.exec(line)
  return found !== null && found[2] === bullet && found[4] === closing
}

function pastBlanks(lines: readonly string[], at: number): number {
  let end = at
  while (end < lines.length && isBlank(lines[end])) end++
  return end
}

/** The line behind an item: what is indented belongs to it, and what goes on its paragraph. */
function itemEnd(lines: readonly string[], at: number): number {
  let end = at + 1
  while (end < lines.length) {
    const line = lines[end] ?? ''
    if (isBlank(line)) {
      const after = pastBlanks(lines, end)
      if (after >= lines.length || indentOf(lines[after] ?? '') < 2) return end
      end = after
    } else if (indentOf(line) < 2 && begins(line)) return end
    else end++
  }
  return end
}

function itemOf(lines: readonly string[], depth: number): Item {
  const [first = '', ...rest] = lines
  const box = task.exec(first)
  const blocks = blocksOf([box ? first.slice(box[0].length) : first, ...rest], depth + 1)
  return box ? { blocks, done: box[1] !== ' ' } : { blocks }
}

/** A head, a line of hyphens as wide as it, and rows to the next blank line. */
function tableAt(lines: readonly string[], at: number): BlockEnd | undefined {
  const [head = '', line = ''] = [lines[at], lines[at + 1]]
  if (!head.includes('|') || !/^[\s:|-]+$/.test(line) || !line.includes('-')) return undefined
  const [names, marks] = [cellsOf(head), cellsOf(line)]
  const isTable = names.length === marks.length && names.length <= columnsMax
  if (!isTable || !marks.every((mark) => /^:?-+:?$/.test(mark))) return undefined
  let end = at + 2
  while (end < lines.length && !begins(lines[end] ?? '')) end++
  const rows = lines.slice(at + 2, end).map((row) => {
    const cells = cellsOf(row)
    return names.map((_, column) => readInline(cells[column] ?? ''))
  })
  const block: Block = {
    is: 'table',
    align: marks.map(alignOf),
    head: names.map((name) => readInline(name)),
    rows,
  }
  return { block, end }
}

/** A table for people who hear it: the words of its head. */
export const tableName = (head: readonly Inline[][]): string =>
  `Table: ${head.map(plainOf).filter(Boolean).join(', ').slice(0, 80)}`

const alignOf = (mark: string): Align => {
  if (!mark.endsWith(':')) return mark.startsWith(':') ? 'left' : ''
  return mark.startsWith(':') ? 'center' : 'right'
}

/** The cells of a row. A bar behind a backslash is text of its cell. */
function cellsOf(line: string): string[] {
  const cells: string[] = []
  let cell = ''
  const row = line.trim()
  for (let at = row.startsWith('|') ? 1 : 0; at < row.length; at++) {
    if (row[at] === '\\' && row[at + 1] === '|') cell += row[++at]
    else if (row[at] === '|') {
      cells.push(cell.trim())
      cell = ''
    } else cell += row[at]
  }
  if (cell.trim() !== '') cells.push(cell.trim())
  return cells
}
