/** Keeps an open list live: new rows land unless it is being read, and states move on. */

import { dateIn, utcZone } from '../kernel/zone.ts'
import { deferredUpdates } from './deferred-updates.ts'
import { foldNeighbours } from './folds.ts'
import { type Heads, moveOn } from './stages.ts'
import { chosenZone } from './times.ts'

type Message = {
  rows: string[]
  isCut?: boolean
  /** New rows that are too many for a message. */
  skipped?: number
  /** Parts of the page by their id. */
  parts?: Record<string, string>
  /** Rows that the list may show already, by their id. */
  changed?: Record<string, string>
  /** How far the log has come, where rows tell their state by their index. */
  heads?: Heads
}

let stop: (() => void) | undefined
begin()
// A filter puts another list in its place.
new MutationObserver(() => {
  if (document.getElementById('live')?.dataset['followed'] === undefined) begin()
}).observe(document.body, { childList: true, subtree: true })

const showPart = deferredUpdates()

function begin(): void {
  stop?.()
  stop = undefined
  const live = document.getElementById('live')
  const button = document.getElementById('fresh')
  const panel = live?.closest<HTMLElement>('.sec')
  if (!live || !button || !panel) return
  live.dataset['followed'] = ''
  stop = follow(live, button, panel)
}

function follow(live: HTMLElement, button: HTMLElement, panel: HTMLElement): () => void {
  const most = Number(live.dataset['most'])
  /** Rows that wait, newest first. */
  let waiting: Element[] = []
  let heads: Heads | undefined
  /** New rows that wait on the server. */
  let skipped = 0

  const isRead = (): boolean =>
    panel.matches(':hover') ||
    panel.contains(document.activeElement) ||
    isSelected(panel) ||
    panel.getBoundingClientRect().top < 0

  const land = (): void => {
    const list = panel.querySelector('tbody')
    if (skipped > 0) {
      void loadAgain(panel)
      return
    }
    // An empty page has no list yet.
    if (!list) {
      location.reload()
      return
    }
    const head = list.querySelector<HTMLElement>('.day')
    // A new day has a head of its own, which the server draws.
    if (head && waiting.some((row) => dayOf(row) !== head.dataset['day'])) {
      void loadAgain(panel)
      return
    }
    if (head) head.after(...waiting)
    else list.prepend(...waiting)
    foldNeighbours(list)
    if (heads) moveOn(list, heads)
    while (list.children.length > most) list.lastElementChild?.remove()
    waiting = []
    button.hidden = true
  }

  const take = ({ rows, parts = {}, changed = {}, isCut, ...more }: Message): void => {
    for (const [id, html] of Object.entries(parts)) showPart(id, html)
    if (more.heads) {
      heads = more.heads
      moveOn(document, heads)
    }
    for (const html of Object.values(changed)) renew(html, waiting)
    skipped += more.skipped ?? 0
    if (skipped > 0) {
      offer(skipped + waiting.length)
      return
    }
    const fresh = rowsOf(rows.join('')).filter((row) => !isThere(row, waiting))
    if (fresh.length === 0) return
    // The stream skipped receipts: the waiting rows are older than the gap.
    waiting = (isCut ? fresh : [...fresh, ...waiting]).slice(0, most)
    offer(waiting.length, most)
  }

  const offer = (count: number, known = Number.POSITIVE_INFINITY): void => {
    if (!isRead()) {
      land()
      return
    }
    const many = count.toLocaleString('en-US')
    button.textContent = count < known ? `${many} new` : `${many} or more new`
    button.hidden = false
  }

  const settle = (): void => {
    if (waiting.length + skipped > 0 && !isRead()) land()
  }
  button.addEventListener('click', land)
  panel.addEventListener('pointerleave', settle)

  const stream = new EventSource(live.dataset['stream'] ?? '')
  stream.onopen = () => {
    live.hidden = false
  }
  stream.onerror = () => {
    live.hidden = true
  }
  stream.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data))
  return () => stream.close()
}

/** Puts the newest page in the place of a list; where that fails, the page itself is loaded. */
async function loadAgain(panel: HTMLElement): Promise<void> {
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fresh = answer.ok ? page.getElementById(panel.id) : null
    if (!fresh) throw new Error('the page has no such list')
    panel.replaceWith(fresh)
  } catch {
    location.reload()
  }
}

/** Rows of a table, made of the server's own HTML. */
function rowsOf(html: string): Element[] {
  const made = document.createElement('template')
  made.innerHTML = html
  return [...made.content.children]
}

/** The day of a row in the zone of its reader. */
function dayOf(row: Element): string | undefined {
  const at = Date.parse(row.querySelector('time')?.dateTime ?? '')
  return Number.isNaN(at) ? undefined : dateIn(chosenZone() ?? utcZone, at)
}

/** Whether a row came before: a stream that was interrupted repeats what it said. */
const isThere = ({ id }: Element, waiting: readonly Element[]): boolean =>
  id !== '' && (document.getElementById(id) !== null || waiting.some((row) => row.id === id))

/** Updates a row where it stands; a cell that has the focus stays as it is. */
function renew(html: string, waiting: Element[]): void {
  const [row] = rowsOf(html)
  if (!row) return
  const at = waiting.findIndex(({ id }) => id === row.id)
  if (at >= 0) waiting[at] = row
  const shown = document.getElementById(row.id)
  if (!shown || wordsOf(shown) === wordsOf(row)) return
  // The cells alone: a focused link elsewhere in the row keeps its focus.
  for (const [i, cell] of [...shown.children].entries()) {
    const other = row.children[i]
    if (other && wordsOf(cell) !== wordsOf(other) && !cell.contains(document.activeElement)) {
      cell.replaceWith(other.cloneNode(true))
    }
  }
  shown.classList.add('new')
}

/** The text of a row without its age. */
function wordsOf(row: Element): string {
  const words = row.cloneNode(true) as Element
  for (const time of words.querySelectorAll('time')) time.remove()
  return words.textContent ?? ''
}

function isSelected(panel: HTMLElement): boolean {
  const selection = document.getSelection()
  return selection !== null && !selection.isCollapsed && panel.contains(selection.anchorNode)
}
