/** Adds new receipts to the open list, at the reader's click so that rows never jump. */
type Message = { rows: string[]; isCut: boolean; parts: Record<string, string> }

const live = document.getElementById('live')
const button = document.getElementById('fresh')
const panel = document.getElementById('recent')
if (live && button && panel) follow(live, button, panel)

function follow(live: HTMLElement, button: HTMLElement, panel: HTMLElement): void {
  const most = Number(live.dataset['most'])
  /** Rows that wait, newest first. */
  let waiting: string[] = []

  const isRead = (): boolean =>
    panel.matches(':hover') ||
    panel.contains(document.activeElement) ||
    panel.getBoundingClientRect().top < 0

  const land = (): void => {
    const list = document.getElementById('results')
    // An empty page has no list yet.
    if (!list) {
      location.reload()
      return
    }
    const made = document.createElement('template')
    made.innerHTML = waiting.join('')
    list.prepend(made.content)
    while (list.children.length > most) list.lastElementChild?.remove()
    waiting = []
    button.hidden = true
  }

  const take = ({ rows, parts, isCut }: Message): void => {
    for (const [id, html] of Object.entries(parts)) {
      const part = document.getElementById(id)
      if (part && !part.contains(document.activeElement)) part.innerHTML = html
    }
    if (rows.length === 0) return
    // The stream skipped receipts: the waiting rows are older than the gap.
    waiting = (isCut ? rows : [...rows, ...waiting]).slice(0, most)
    if (!isRead()) {
      land()
      return
    }
    button.textContent = waiting.length < most ? `${waiting.length} new` : `${most} or more new`
    button.hidden = false
  }

  button.addEventListener('click', land)
  panel.addEventListener('pointerleave', () => {
    if (waiting.length > 0 && !isRead()) land()
  })

  const stream = new EventSource(live.dataset['stream'] ?? '')
  stream.onopen = () => {
    live.hidden = false
  }
  stream.onerror = () => {
    live.hidden = true
  }
  stream.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data))
}
