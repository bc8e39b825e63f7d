/**
 * The landing page: the newest receipt is checked once, and stamped wherever it is in sight; the
 * receipt of an answer comes out of the slot in its place.
 */
import { leftOut } from '../front/site/brief-slip.ts'
import { landStamp } from './check-parts.ts'
import { element } from './dom.ts'
import { judgePage } from './judge-page.ts'

let judged: ReturnType<typeof judgePage> | undefined

/** Lands the stamp in a place when what surrounds it comes into sight. */
function stampInSight(surroundings: string, place: string): void {
  const shown = document.querySelector(surroundings)
  if (!shown) return
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return
    watch.disconnect()
    judged ??= judgePage(true)
    void judged.then(
      (found) => found && landStamp(found.stamp, place),
      () => undefined,
    )
  })
  watch.observe(shown)
}

stampInSight('.newest .slip', 'stamp')
stampInSight('.ending', 'story-stamp')

document.addEventListener('counterfoil:asked', (event) => {
  // The link below the answer leads to the receipt all the same.
  void print((event as CustomEvent<string>).detail).catch(() => {})
})

/** Puts the slip of a receipt where the newest one stands, and stamps it once it is checked. */
async function print(id: string): Promise<void> {
  const figure = document.querySelector('.newest')
  const before = figure?.querySelector('.slipwrap')
  if (!figure || !before) return
  const answer = await fetch(`/receipts/${id}`, { headers: { accept: 'text/html' } })
  if (!answer.ok) return
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [slip, payload] = [page.querySelector('.slipwrap'), page.getElementById('payload')]
  if (!slip || !payload) return
  // The story further down is of the receipt that was here.
  judged ??= judgePage(true)
  await judged.catch(() => undefined)
  for (const name of slip.querySelectorAll('dt')) {
    if (!leftOut.has(name.textContent ?? '')) continue
    name.nextElementSibling?.remove()
    name.remove()
  }
  for (const value of slip.querySelectorAll('dd')) {
    const hex = value.textContent ?? ''
    if (hex.startsWith('0x')) value.textContent = `${hex.slice(0, 6)}…${hex.slice(-4)}`
  }
  slip.querySelector('h1')?.replaceWith(element('h2', { id: 'slip-id' }, id))
  slip.querySelector('.print')?.replaceChildren('Printed for you just now.')
  slip.querySelector('#stamp')?.replaceChildren()
  document.getElementById('payload')?.remove()
  before.replaceWith(slip)
  slip.after(payload)
  const link = element('a', { href: `/receipts/${id}` }, 'Open its page')
  figure.querySelector('figcaption')?.replaceChildren('The receipt of your answer. ', link)
  const found = await judgePage(true)
  if (found) landStamp(found.stamp, 'stamp')
}
