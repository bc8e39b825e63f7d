/** Keeps the stubs of a visit: what a run leaves tears off the talk and drops into a list. */
import { element } from './dom.ts'

/** Where a stub leads, and what stands on it. */
type Stub = { href: string; name: string; cost?: string }

/** Puts a stub first into the page's list of them; a page without one does without. */
export function keepStub({ href, name, cost }: Stub): void {
  const list = document.getElementById('stubs')
  if (!list) return
  list.querySelector('.none')?.remove()
  const link = element('a', { href }, name)
  list.prepend(element('li', { class: 'new' }, link, ...(cost ? [element('data', {}, cost)] : [])))
  list.scrollTo({ left: 0, top: 0 })
}
