/** Replaces parts of a page, except under the pointer or around the focus. */

/** Shows a part by its id, at once or as soon as it is left alone. */
export function deferredUpdates(): (id: string, html: string) => void {
  const late = new Map<string, string>()
  const show = (): void => {
    for (const [id, html] of late) {
      const part = document.getElementById(id)
      if (part?.matches(':hover') || part?.contains(document.activeElement)) continue
      late.delete(id)
      if (part) part.innerHTML = html
    }
  }
  for (const event of ['pointerover', 'focusin', 'focusout']) {
    // After the event: then the focus is where it goes.
    document.addEventListener(event, () => late.size > 0 && setTimeout(show))
  }
  return (id, html) => {
    late.set(id, html)
    show()
  }
}
