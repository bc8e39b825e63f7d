/** Takes toasts away: when asked, or after a while without the pointer or the focus. */

/** How long a toast stays, in ms; one with a button long enough to get there. */
const stayMs = 8_000
const stayWithUndoMs = 20_000

export function dropToasts(): void {
  const place = document.getElementById('toasts')
  if (!place) return
  place.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-dismiss]')) {
      place.replaceChildren()
    }
  })
  new MutationObserver(() => expire(place)).observe(place, { childList: true })
  expire(place)
}

function expire(place: HTMLElement): void {
  const toast = place.querySelector('[data-toast]')
  if (!toast) return
  const wait = toast.querySelector('form') ? stayWithUndoMs : stayMs
  setTimeout(() => {
    if (toast.matches(':hover, :focus-within')) expire(place)
    else toast.remove()
  }, wait)
}
