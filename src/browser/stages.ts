/** Moves the states of shown receipts on as their log is anchored. */
import { levelWords } from '../verify/verdict-words.ts'

/** Leaves that are anchored, and of these in final blocks. */
export type Heads = { anchored: number; final: number }

/** Says the state that follows from its index in every badge below. */
export function moveOn(root: ParentNode, { anchored, final }: Heads): void {
  for (const place of root.querySelectorAll<HTMLElement>('[data-index]')) {
    const index = Number(place.dataset['index'])
    const level = index < final ? 'final' : index < anchored ? 'anchored' : 'logged'
    const badge = place.querySelector('.st')
    if (!badge || badge.textContent === levelWords[level]) continue
    badge.textContent = levelWords[level]
    badge.className = level === 'logged' ? 'st wait' : 'st ok'
  }
}
