/** Rolls the digits of the balance that a run changed. */
import { element } from './dom.ts'
import { isStill } from './motion.ts'

export function rollBalance(): void {
  const place = document.getElementById('balance')
  if (!place) return
  let before = place.textContent ?? ''
  const watch = new MutationObserver(() => {
    const now = place.textContent ?? ''
    if (now !== before && !isStill()) roll(place, before, now)
    before = now
    // The digits were only wrapped.
    watch.takeRecords()
  })
  watch.observe(place, { childList: true, subtree: true, characterData: true })
}

/** Wraps each digit that differs from the one that stood as far from the end. */
function roll(place: HTMLElement, before: string, now: string): void {
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
  const found: Text[] = []
  while (texts.nextNode()) found.push(texts.currentNode as Text)
  let at = before.length - now.length
  for (const text of found) {
    const parts = [...text.data].map((digit) => {
      const isSame = before[at++] === digit || !/\d/.test(digit)
      return isSame ? digit : element('span', { class: 'rolled' }, digit)
    })
    text.replaceWith(...parts)
  }
}
