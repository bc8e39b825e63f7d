/** Finds where the statements of a TOML text begin and end, to change some of them in place. */

export type Statement = {
  kind: 'table' | 'list' | 'pair'
  /** `models.bands` of `[[models.bands]]`, or the key of a pair, as written but for spaces. */
  name: string
  /** Its lines, the end of the last one included. */
  start: number
  end: number
  /** The value of a pair, without spaces and comments around it. */
  valueStart: number
  valueEnd: number
}

/** Splits a text that a TOML parser accepted; any other text gives meaningless statements. */
export function statementsOf(text: string): Statement[] {
  const found: Statement[] = []
  let at = 0
  while (at < text.length) {
    const start = at
    while (text[at] === ' ' || text[at] === '\t') at++
    const first = text[at]
    if (first === undefined || first === '#' || first === '\n' || first === '\r') {
      at = lineEnd(text, at)
      continue
    }
    const isHeader = first === '['
    const nameEnd = skipTo(text, at, isHeader ? ']' : '=')
    const isList = isHeader && text[at + 1] === '['
    const name = text.slice(isHeader ? at + (isList ? 2 : 1) : at, nameEnd).replace(/\s/g, '')
    let valueStart = nameEnd + 1
    while (text[valueStart] === ' ' || text[valueStart] === '\t') valueStart++
    const valueEnd = isHeader ? valueStart : endOfValue(text, valueStart)
    at = lineEnd(text, isHeader ? nameEnd : valueEnd)
    const kind = isHeader ? (isList ? 'list' : 'table') : 'pair'
    found.push({ kind, name, start, end: at, valueStart, valueEnd })
  }
  return found
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end + 1
}

/** The next such character outside of quotes. */
function skipTo(text: string, from: number, wanted: string): number {
  let at = from
  while (at < text.length && text[at] !== wanted) at = skipOne(text, at)
  return at
}

/** A value ends with its line, except inside of brackets and long texts. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  let at = from
  let end = from
  while (at < text.length) {
    const one = text[at]
    if (one === '#') {
      at = lineEnd(text, at) - (depth === 0 ? 1 : 0)
      if (depth === 0) break
      continue
    }
    if (one === '\n' && depth === 0) break
    if (one === '[' || one === '{') depth++
    if (one === ']' || one === '}') depth--
    at = skipOne(text, at)
    if (one !== ' ' && one !== '\t' && one !== '\r') end = at
  }
  return end
}

/** Behind the character at `at`, or behind the whole text in quotes that begins there. */
function skipOne(text: string, at: number): number {
  const quote = text[at]
  if (quote !== '"' && quote !== "'") return at + 1
  const long = quote.repeat(3)
  const mark = text.startsWith(long, at) ? long : quote
  let end = at + mark.length
  while (end < text.length && !text.startsWith(mark, end)) {
    end += quote === '"' && text[end] === '\\' ? 2 : 1
  }
  end += mark.length
  // A long text may end in up to two quotes of its own.
  while (mark === long && text[end] === quote) end++
  return end
}

/** The positions of the items of a list whose text, with brackets, is from `start` to `end`. */
export function itemsOf(
  text: string,
  start: number,
  end: number,
): { start: number; end: number }[] {
  const items: { start: number; end: number }[] = []
  let depth = 0
  let item: { start: number; end: number } | undefined
  for (let at = start; at < end; ) {
    const one = text[at] ?? ''
    if (one === '#') {
      at = lineEnd(text, at)
      continue
    }
    const next = skipOne(text, at)
    const closes = one === ']' || one === '}'
    if (closes) depth--
    if (depth === 0 || (depth === 1 && one === ',')) item = undefined
    else if (!/\s/.test(one)) {
      if (!item) {
        item = { start: at, end: next }
        items.push(item)
      }
      item.end = next
    }
    if (one === '[' || one === '{') depth++
    at = next
  }
  return items
}
