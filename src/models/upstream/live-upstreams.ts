/** Upstreams that are replaced while the service runs. */
import type { Upstream } from './upstream.ts'

/** The servers that models run on, by the name that routes give them. */
export type Upstreams = {
  get(id: string): Upstream | undefined
  /** The upstreams of the present configuration. */
  list(): readonly Upstream[]
}

/** Upstreams that can be exchanged as a whole while others hold them. */
export type LiveUpstreams = Upstreams & { replace(next: readonly Upstream[]): void }

/** The upstreams of a running service. One that was taken away serves those who began with it. */
export function liveUpstreams(first: readonly Upstream[]): LiveUpstreams {
  const known = new Map<string, Upstream>()
  let offered = first
  const replace = (next: readonly Upstream[]): void => {
    offered = next
    for (const upstream of next) known.set(upstream.id, upstream)
  }
  replace(first)
  return { get: (id) => known.get(id), list: () => offered, replace }
}
