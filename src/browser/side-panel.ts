/** Opens the panel over the page when htmx put something into it. */

export function openSidePanels(): void {
  document.addEventListener('htmx:after:swap', () => {
    const dialog = document.getElementById('side')
    const filled = document.getElementById('side-panel')?.childElementCount
    if (!(dialog instanceof HTMLDialogElement) || dialog.open || !filled) return
    const title = dialog.querySelector('h2')
    if (title?.id) dialog.setAttribute('aria-labelledby', title.id)
    // Empties a closed panel, so that it is loaded again: its counts would be stale.
    dialog.addEventListener('close', () => dialog.lastElementChild?.replaceChildren(), {
      once: true,
    })
    dialog.showModal()
  })
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element)) return
    const dialog = event.target.closest('dialog')
    if (!dialog) return
    const isClosing = event.target.closest('[data-close], [data-keeps]') !== null
    // The backdrop belongs to the dialog; everything in it is an element of its own.
    if (!isClosing && event.target !== dialog) return
    event.preventDefault()
    dialog.close()
  })
}
