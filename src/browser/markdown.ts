/** The Markdown of an answer as elements, in the browser. */
import { type Block, type Item, readMarkdown, tableName } from '../models/answers/markdown.ts'
import type { Inline } from '../models/answers/markdown-inline.ts'
import { element } from './dom.ts'

/**
 * Writes the text into an element as it grows. Blocks that stay as they were keep their elements,
 * so a selection survives; the text itself is never parsed as HTML.
 */
export function markdownIn(place: HTMLElement, scroller: HTMLElement) {
  let text = ''
  let shown: string[] = []
  let isDue = false
  const show = (): void => {
    isDue = false
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40
    const blocks = readMarkdown(text)
    const names = blocks.map((block) => JSON.stringify(block))
    for (const [i, block] of blocks.entries()) {
      if (names[i] === shown[i]) continue
      const made = elementOf(block)
      const before = place.children[i]
      if (before) before.replaceWith(made)
      else place.append(made)
    }
    while (place.children.length > blocks.length) place.lastElementChild?.remove()
    shown = names
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight
  }
  return {
    text: () => text,
    /** Shown with the next picture: pieces come faster than anyone sees. */
    add(piece: string): void {
      text += piece
      if (!isDue) requestAnimationFrame(show)
      isDue = true
    },
    /** `whole`: what it is in the end, where that is known. */
    end(whole = text): void {
      text = whole
      show()
    },
  }
}

function elementOf(block: Block): HTMLElement {
  switch (block.is) {
    case 'rule':
      return element('hr')
    case 'code':
      return element(
        'div',
        { class: 'code snippet' },
        ...(block.language === '' ? [] : [element('small', {}, block.language)]),
        element('pre', { tabindex: '0' }, block.text),
        element('button', { class: 'btn small copy', type: 'button', 'data-copy': 'pre' }, 'Copy'),
      )
    case 'list': {
      const items = block.items.map(itemOf)
      const start = { start: String(block.start) }
      return block.ordered ? element('ol', start, ...items) : element('ul', {}, ...items)
    }
    case 'table':
      return tableOf(block)
    case 'heading':
      return element('p', {}, element('strong', {}, ...nodes(block.parts)))
    case 'quote':
      return element('blockquote', {}, ...block.blocks.map(elementOf))
    case 'p':
      return element('p', {}, ...nodes(block.parts))
  }
}

function itemOf({ blocks, done }: Item): HTMLElement {
  const parts = blocks.flatMap((block, at) =>
    at === 0 && block.is === 'p' ? nodes(block.parts) : [elementOf(block)],
  )
  if (done === undefined) return element('li', {}, ...parts)
  const state = { 'aria-label': done ? 'Done' : 'To do', checked: done, disabled: true }
  return element(
    'li',
    { class: 'task' },
    element('input', { type: 'checkbox', ...state }),
    ...parts,
  )
}

function tableOf({ align, head, rows }: Block & { is: 'table' }): HTMLElement {
  const cell = (tag: 'th' | 'td', parts: readonly Inline[], column: number) =>
    element(
      tag,
      { class: align[column] || false, ...(tag === 'th' && { scope: 'col' }) },
      ...nodes(parts),
    )
  const row = (tag: 'th' | 'td', cells: readonly Inline[][]) =>
    element('tr', {}, ...cells.map((parts, column) => cell(tag, parts, column)))
  const body = element('tbody', {}, ...rows.map((cells) => row('td', cells)))
  const table = element('table', {}, element('thead', {}, row('th', head)), body)
  const name = { tabindex: '0', 'aria-label': tableName(head) }
  return element('section', { class: 'scroll', ...name }, table)
}

const nodes = (parts: readonly Inline[]): (Node | string)[] => parts.map(nodeOf)

function nodeOf(part: Inline): Node | string {
  switch (part.is) {
    case 'text':
      return part.text
    case 'break':
      return element('br')
    case 'code':
      return element('code', {}, part.text)
    case 'strong':
    case 'em':
    case 'del':
      return element(part.is, {}, ...nodes(part.parts))
    case 'link': {
      const rel = 'noopener noreferrer nofollow'
      return element('a', { href: part.url, target: '_blank', rel }, ...nodes(part.parts))
    }
  }
}
