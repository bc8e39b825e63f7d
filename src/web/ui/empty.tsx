/** An empty list. */
import type { Child } from './jsx-runtime.ts'
import { Rosette } from './rosette.tsx'

type EmptyProps = {
  /** Hex; whose list is empty, so that every account has its own figure. */
  hash: string
  title: string
  children: Child
  /** The one next thing to do. */
  action?: Child
}

/** A list without entries. */
export const Empty = ({ hash, title, children, action }: EmptyProps) => (
  <div class="empty">
    <Rosette hash={hash} plain />
    <h2>{title}</h2>
    <p class="quiet">{children}</p>
    {action}
  </div>
)

/** Stands where something is fetched; it shows after 200 ms: what is fast does not flash. */
export const Loading = ({ what }: { what: string }) => (
  <p class="loading quiet" role="status">
    Loading {what}…
  </p>
)
