/** A tape of bars. */
import { scaleSqrt } from 'd3-scale'

/** One bar: how high, where it leads, and what it is in words. */
export type TapeBar = {
  value: number
  href: string
  words: string
  /** The one that is filling: drawn dashed. */
  open?: boolean
}

/**
 * Bars as links, side by side: anchors with the number of their receipts as height, by its square
 * root, so that one large anchor leaves the others to be seen. Each says its words under the
 * pointer and in focus.
 */
export function Tape({ label, bars }: { label: string; bars: readonly TapeBar[] }) {
  const y = scaleSqrt()
    .domain([0, Math.max(...bars.map(({ value }) => value), 1)])
    .range([0, 100])
  return (
    <ol class="tape bare" aria-label={label}>
      {bars.map(({ value, href, words, open }) => (
        <li>
          <a class={open ? 'open' : undefined} href={href}>
            <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
              <rect x="0" y={(100 - y(value)).toFixed(1)} width="10" height={y(value).toFixed(1)} />
            </svg>
            <span class="said">{words}</span>
          </a>
        </li>
      ))}
    </ol>
  )
}
