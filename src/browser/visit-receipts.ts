/** Keeps the stubs of a visit: what a run leaves tears off the talk and drops into a list. */
import { element } from './dom.ts'

/** The link of a stub, and its words. */
type VisitReceipt = { href: string; name: string; cost?: string }

/**
 * Puts a stub last into the page's list of them and scrolls to it, so that those before it stay
 * where they are; a page without a list does without.
 */
export function addVisitReceipt({ href, name, cost }: VisitReceipt): void {
  const list = document.getElementById('stubs')
  if (!list) return
  list.querySelector('.none')?.remove()
  const link = element('a', { href }, name)
  list.append(element('li', { class: 'new' }, link, ...(cost ? [element('data', {}, cost)] : [])))
  list.scrollTo({ left: list.scrollWidth, top: 0 })
}
