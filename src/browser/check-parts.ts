/** Elements that show the checks of a receipt. */
import type { ShownCheck, StampWords } from '../verify/shown-checks.ts'
import { element } from './dom.ts'

/** A check in words, with the icon that the page carries for it. */
export function checkItem({ result, label, detail }: ShownCheck): HTMLElement {
  const icon = document.getElementById(`icon-${result}`)?.firstElementChild?.cloneNode(true)
  const made = element('li', { class: result }, ...(icon ? [icon] : []))
  made.append(element('strong', {}, label), element('small', {}, detail))
  return made
}

export const stampOf = ({ words, against, isBad }: StampWords): HTMLElement =>
  element(
    'div',
    { class: isBad ? 'stampmark bad' : 'stampmark' },
    words,
    element('small', {}, against),
  )

/** Puts the stamp on the page's slip, or into another place of its verdict: it lands once. */
export function landStamp(stamp: StampWords | undefined, id = 'stamp'): void {
  const place = document.getElementById(id)
  if (!stamp || !place) return
  const made = stampOf(stamp)
  made.classList.add('lands')
  place.replaceChildren(made)
}
