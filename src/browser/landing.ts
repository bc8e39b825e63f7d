/** The landing page: the newest receipt is checked and stamped once it is in sight. */
import { landStamp } from './check-parts.ts'
import { judgePage } from './judge-page.ts'

const slip = document.querySelector('.newest .slip')
if (slip) {
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return
    watch.disconnect()
    void judgePage(true).then(
      (found) => found && landStamp(found.stamp),
      () => undefined,
    )
  })
  watch.observe(slip)
}
