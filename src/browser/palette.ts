/** The command palette: a box that lists pages, keys, ids and actions. Loaded when first asked. */
import { element } from './dom.ts'
import { type Entry, entriesOf, matching, readObjects } from './palette-entries.ts'

type Pages = readonly (readonly [href: string, label: string])[]

/** Opens it over the page; closed, it is gone. */
export function openPalette(pages: Pages): void {
  if (document.querySelector('dialog.palette')) return
  const { dialog, input, list, count } = build()
  let entries = entriesOf(pages)
  let shown: Entry[] = []
  let at = 0
  const recent = readRecent()

  const mark = (next: number): void => {
    at = next
    for (const [i, option] of [...list.children].entries()) {
      option.setAttribute('aria-selected', String(i === at))
      if (i === at) option.scrollIntoView({ block: 'nearest' })
    }
    if (shown[at]) input.setAttribute('aria-activedescendant', `palette-${at}`)
    else input.removeAttribute('aria-activedescendant')
  }
  const show = (): void => {
    shown = matching(entries, input.value, recent)
    list.replaceChildren(...shown.map(optionOf))
    list.hidden = shown.length === 0
    input.setAttribute('aria-expanded', String(shown.length > 0))
    count.textContent = shown.length === 0 ? 'Nothing matches. Try a page, a key or an id.' : ''
    mark(0)
  }
  const choose = (entry: Entry | undefined): void => {
    if (!entry) return
    keepRecent([entry.label, ...recent.filter((label) => label !== entry.label)])
    dialog.close()
    if (entry.press) entry.press.click()
    else if (entry.href) location.assign(entry.href)
  }

  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    const next = moved(event.key, at, shown.length)
    if (next !== undefined) mark(next)
    else if (event.key === 'Enter') choose(shown[at])
    else return
    event.preventDefault()
  })
  list.addEventListener('click', (event) => {
    const option = event.target instanceof Element ? event.target.closest('[role="option"]') : null
    if (option) choose(shown[[...list.children].indexOf(option)])
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  show()
  dialog.showModal()
  void readObjects(pages).then((objects) => {
    entries = [...entries, ...objects]
    if (dialog.open && (input.value !== '' || recent.length > 0)) show()
  })
}

const recentMax = 6

/**
 * Names the labels that were chosen in this tab, the last one first: a wallet has others in each
 * account that it acts for. They are forgotten with the sign-out.
 */
function recentKey(): string {
  const { account, acting } = document.querySelector<HTMLElement>('[data-acting]')?.dataset ?? {}
  return `counterfoil.recent ${account} ${acting}`
}

const readRecent = (): string[] => JSON.parse(sessionStorage.getItem(recentKey()) ?? '[]')

const keepRecent = (labels: readonly string[]): void =>
  sessionStorage.setItem(recentKey(), JSON.stringify(labels.slice(0, recentMax)))

/** The option that an arrow key leads to; around the ends. */
function moved(key: string, at: number, length: number): number | undefined {
  if (length === 0) return undefined
  if (key === 'ArrowDown') return (at + 1) % length
  if (key === 'ArrowUp') return (at + length - 1) % length
  return undefined
}

const optionOf = ({ label, kind }: Entry, i: number): HTMLLIElement =>
  element(
    'li',
    { role: 'option', id: `palette-${i}`, 'aria-selected': 'false' },
    element('span', { dir: 'auto' }, label),
    element('small', {}, kind),
  )

function build() {
  const input = element('input', {
    class: 'in',
    type: 'text',
    role: 'combobox',
    'aria-label': 'Go to or do',
    'aria-controls': 'palette-list',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'A page, a key, an id or an action',
  })
  const list = element('ul', {
    id: 'palette-list',
    class: 'bare',
    role: 'listbox',
    'aria-label': 'Pages, keys and actions',
  })
  const count = element('p', { role: 'status', class: 'quiet' })
  const name = { class: 'palette', 'aria-label': 'Command palette' }
  const dialog = element('dialog', name, input, list, count)
  return { dialog, input, list, count }
}
