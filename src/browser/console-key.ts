/** The spending limit of the console: changed in place, and read again after each run. */

const place = '#console-key'

/**
 * Returns the function that reads the panel and the line below the message again. It sends the
 * panel's forms too. The page needs no htmx for that, which would be a sixth of what it loads.
 */
export function keyParts(fail: (words: string) => void) {
  const put = async (form?: HTMLFormElement): Promise<void> => {
    try {
      const sent = form && new URLSearchParams(new FormData(form) as never)
      const answer = await fetch(form?.action ?? '/api/portal/console', {
        headers: { 'hx-request': 'true' },
        ...(sent && { method: 'POST', body: sent }),
      })
      // The session ended: the page leads to the sign-in, which knows the way back.
      if (answer.status === 401) return location.reload()
      show(await answer.text())
    } catch {
      if (form) fail('No answer came. It may have been done.')
    }
  }
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || !form.closest(place)) return
    event.preventDefault()
    void put(form)
  })
  return put
}

/** Puts each part of the server's answer in the place of the one with its id. */
function show(html: string): void {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  for (const part of [...body.children]) {
    const before = document.getElementById(part.id)
    const hadFocus = before?.contains(document.activeElement)
    before?.replaceWith(part)
    if (hadFocus) part.querySelector<HTMLElement>('button')?.focus()
  }
}
