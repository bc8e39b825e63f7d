/** The Markdown of an answer as elements, in the browser. */
import { type Block, type Inline, readMarkdown } from '../front/console/markdown.ts'
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
        element('pre', { tabindex: '0' }, block.text),
        element('button', { class: 'btn small copy', type: 'button', 'data-copy': 'pre' }, 'Copy'),
      )
    case 'list': {
      const items = block.items.map(({ depth, parts }) =>
        element('li', { class: depth > 0 && `deep${depth}` }, ...nodes(parts)),
      )
      const start = { start: String(block.start) }
      return block.ordered ? element('ol', start, ...items) : element('ul', {}, ...items)
    }
    case 'heading':
      return element('p', {}, element('strong', {}, ...nodes(block.parts)))
    case 'quote':
      return element('blockquote', {}, ...nodes(block.parts))
    case 'p':
      return element('p', {}, ...nodes(block.parts))
  }
}

const nodes = (parts: readonly Inline[]): (Node | string)[] => parts.map(nodeOf)

function nodeOf(part: Inline): Node | string {
  switch (part.is) {
    case 'text':
      return part.text
    case 'code':
      return element('code', {}, part.text)
    case 'strong':
    case 'em':
      return element(part.is, {}, ...nodes(part.parts))
    case 'link': {
      const rel = 'noopener noreferrer nofollow'
      return element('a', { href: part.url, target: '_blank', rel }, ...nodes(part.parts))
    }
  }
}
