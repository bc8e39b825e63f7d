/** The landing page: the newest receipt is checked once, and stamped wherever it is in sight. */
import { landStamp } from './check-parts.ts'
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
