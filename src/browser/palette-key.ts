/**
 * Listens for the keys of signed-in pages: Ctrl K, Cmd K or `/` for the palette, which is fetched
 * then, `?` for a list of the keys, `g` with a letter for a page and `n` with one for what is new.
 */

import { goKeys, newKeys } from '../front/overview/palette-words.ts'
import { element } from './dom.ts'

type Palette = { openPalette(pages: unknown): void }
type Pages = readonly (readonly [href: string, label: string])[]

/** How long a letter may come after `g` or `n`, in ms. */
const goMs = 1_500

export function listenForPalette(): void {
  const button = document.querySelector('[data-palette]')
  if (!(button instanceof HTMLElement)) return
  const { palette = '' } = button.dataset
  const pages: Pages = JSON.parse(button.dataset['pages'] ?? '[]')
  /** The letter that the next one belongs to, and when it came. */
  let first = { key: '', at: Number.NEGATIVE_INFINITY }
  const open = async (): Promise<void> => {
    const { openPalette } = (await import(palette)) as Palette
    openPalette(pages)
  }
  const plain = (key: string, at: number): boolean => {
    const before = at - first.at < goMs ? first.key : ''
    first = { key, at }
    const [href, needs] = linkOf(before, key)
    if (href && pages.some(([path]) => path === needs)) location.assign(href)
    else if (key === '/') void open()
    else if (key === '?') showKeys(pages)
    else return false
    return true
  }
  button.addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    if (event.altKey || document.querySelector('dialog[open]')) return
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== 'k' || event.shiftKey) return
      event.preventDefault()
      void open()
    } else if (!isTyping(event.target) && plain(event.key, event.timeStamp)) event.preventDefault()
  })
}

/** The address that two letters lead to, and the page that it needs. */
function linkOf(first: string, key: string): readonly string[] {
  const go = first === 'g' ? goKeys[key] : undefined
  return go === undefined ? (first === 'n' && newKeys[key]) || [] : [go, go]
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select'))

function showKeys(pages: Pages): void {
  const goes = Object.entries(goKeys).flatMap(([key, href]) => {
    const page = pages.find(([path]) => path === href)
    return page ? [[`g ${key}`, page[1]] as const] : []
  })
  const news = Object.entries(newKeys).flatMap(([key, [, needs, what]]) =>
    pages.some(([path]) => path === needs) ? [[`n ${key}`, what] as const] : [],
  )
  const all = [
    ['Ctrl K or /', 'Find a page, a key or an id'],
    ['j and k', 'The next row and the one before'],
    ['?', 'These keys'],
    ...goes,
    ...news,
  ] as const
  const lines = all.map(([key, what]) =>
    element('li', {}, element('span', {}, what), element('kbd', {}, key)),
  )
  const close = element('button', { class: 'btn', type: 'button' }, 'Close')
  const dialog = element(
    'dialog',
    { class: 'palette', 'aria-label': 'Keys' },
    element('ul', { class: 'bare' }, ...lines),
    element('p', { class: 'row' }, close),
  )
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
