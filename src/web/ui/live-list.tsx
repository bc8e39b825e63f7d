/** The corner of a list that grows by itself: the counter of rows that wait, and the hot dot. */

type LiveListProps = {
  /** Where its news comes from. */
  stream: string
  /** The most rows the open list keeps. */
  most: number
  /** The list again, where no script runs. */
  href: string
}

/** Shown by the script `live-list` once its stream is open; without script a link to the list. */
export const LiveList = ({ stream, most, href }: LiveListProps) => (
  <span class="row news">
    <noscript>
      <a class="btn small" href={href}>
        Refresh
      </a>
    </noscript>
    <button class="btn small" type="button" id="fresh" hidden>
      New
    </button>
    <span class="live" id="live" data-stream={stream} data-most={String(most)} hidden>
      Live
    </span>
  </span>
)
