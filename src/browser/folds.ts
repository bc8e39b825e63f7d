/** Folds private receipts of the explorer that came side by side, as its server does. */
import { foldWords } from '../front/explorer/fold-words.ts'

/** The most receipts that a fold shows; it counts all. */
const shownMax = 100

/** Makes one fold of neighbours; the lower one stays, with its focus and whether it is open. */
export function foldNeighbours(list: Element): void {
  for (const row of [...list.children]) {
    const upper = row.previousElementSibling
    if (isFold(row) && isFold(upper)) join(upper, row)
  }
}

const isFold = (row: Element | null): row is HTMLElement =>
  row instanceof HTMLElement && row.dataset['fold'] !== undefined

function join(upper: HTMLElement, lower: HTMLElement): void {
  const list = lower.querySelector('ul')
  const words = lower.querySelector('summary > span')
  const count = Number(upper.dataset['fold']) + Number(lower.dataset['fold'])
  if (!list || !words) return
  list.prepend(...upper.querySelectorAll('li'))
  const models = [...list.children].map((one) => (one as HTMLElement).dataset['model'] ?? '')
  // Rows that are no longer shown had models too.
  words.textContent = foldWords(count, count > models.length ? [] : models)
  while (list.children.length > shownMax) list.lastElementChild?.remove()
  lower.dataset['fold'] = String(count)
  lower.querySelector('summary time')?.replaceWith(upper.querySelector('summary time') ?? '')
  lower.classList.add('new')
  upper.remove()
}
