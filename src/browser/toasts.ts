/** Shows toasts; drops them when asked, or after a while without the pointer or the focus. */
import { element } from './dom.ts'

/** How long a toast stays, in ms; one with a button long enough to get there. */
const stayMs = 8_000
const stayWithUndoMs = 20_000

export function dropToasts(): void {
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('#toasts [data-dismiss]')) {
      placeOfToasts().replaceChildren()
    }
  })
  const place = document.getElementById('toasts')
  if (place) watch(place)
}

/** The action that a toast offers. */
type Offer = { label: string; press: () => void }

/** Shows a toast of the page itself, which stays until it is answered. */
export function showToast(words: string, { label, press }: Offer): void {
  const go = element('button', { class: 'btn small', type: 'button' }, label)
  const drop = { class: 'btn plain small', type: 'button', 'data-dismiss': '' }
  const toast = element(
    'div',
    { class: 'toast', 'data-toast': 'stays' },
    element('p', {}, words),
    go,
    element('button', drop, 'Dismiss'),
  )
  go.addEventListener('click', () => {
    toast.remove()
    press()
  })
  placeOfToasts().replaceChildren(toast)
}

/** Public pages have no place for toasts until one is shown. */
function placeOfToasts(): HTMLElement {
  const known = document.getElementById('toasts')
  if (known) return known
  const made = element('div', { id: 'toasts', role: 'status', 'aria-live': 'polite' })
  document.body.append(made)
  return made
}

function watch(place: HTMLElement): void {
  new MutationObserver(() => expire(place)).observe(place, { childList: true })
  expire(place)
}

function expire(place: HTMLElement): void {
  const toast = place.querySelector('[data-toast=""]')
  if (!toast) return
  const wait = toast.querySelector('form') ? stayWithUndoMs : stayMs
  setTimeout(() => {
    if (toast.matches(':hover, :focus-within')) expire(place)
    else toast.remove()
  }, wait)
}
