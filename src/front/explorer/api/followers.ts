/** Streams news of the log to every open explorer page, with one look for all. */
import type { Deps } from '../../../app/deps-port.ts'
import { refuse } from '../../../kernel/refusal.ts'
import {
  clientAddress,
  type PeerSource,
  rateKey,
  type TrustedProxies,
  trustedProxies,
} from '../../../web/http/client-address.ts'
import { dataFrame, type SseClient, type SseContext, sseResponse } from '../../../web/http/sse.ts'

/** The present state of the page. Every part is made once for all readers. */
export type Scene = {
  /** The newest receipts, newest first. */
  rows: readonly { place: number; draw: () => string }[]
  /** Parts of the page by the id of what they stand in. */
  parts: Readonly<Record<string, Part>>
  /** Leaves of the current log that are anchored, and of these in final blocks. */
  heads: { anchored: number; final: number }
}

/** `mark` changes whenever it has to be drawn again. */
type Part = { mark: string; draw: () => string }

/** How often the log is read while a page follows, in ms. */
const tickMs = 2000
/** Pages that follow at a time: in all, and of one network. */
const followersMax = 500
const followersOfOneMax = 20

type Peer = { request: Request; server: PeerSource | null }
type Follower = { client: SseClient; network: string; end: () => void }

/**
 * One look at the log for all pages that follow it. It stops while no page follows; a
 * page that comes, or comes back, gets what it has not seen of the newest receipts.
 */
export function followers(deps: Deps, look: () => Promise<Scene>) {
  const isTrusted = trustedProxies(deps.settings.trustedProxies)
  const all = new Set<Follower>()
  let timer: Timer | undefined
  let scene: Scene = nothing
  let isLooking = false

  const tick = async () => {
    // A server that stops lets its pages go, before its database is closed.
    if (deps.health.stopping) for (const { end } of all) end()
    if (isLooking || deps.health.stopping) return
    isLooking = true
    try {
      const before = scene
      scene = await look()
      const frame = frameOf(scene, newestOf(before), before)
      if (frame) for (const { client } of all) client.send(frame)
    } catch (error) {
      deps.log.error('explorer.look_failed', error)
    } finally {
      isLooking = false
    }
  }

  const join = async (follower: Follower, seen: number): Promise<void> => {
    all.add(follower)
    // The first page reads the present state; later ones share it.
    if (!timer) {
      timer = setInterval(() => void tick(), tickMs)
      scene = await look()
    }
    follower.client.send(frameOf(scene, seen, nothing) ?? ': open\n\n')
  }

  const leave = (follower: Follower): void => {
    all.delete(follower)
    if (all.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    count: () => all.size,
    /**
     * Follows from the place that a page has seen.
     * @throws Refusal 'rate_limited' or 'unavailable' when too many do
     */
    follow: (context: SseContext & Peer, after: number): Response => {
      const network = networkOf(context, isTrusted)
      const own = [...all].filter((one) => one.network === network).length
      if (own >= followersOfOneMax) {
        refuse(
          'rate_limited',
          'Too many pages are open from your network. Close some and try again.',
        )
      }
      if (all.size >= followersMax)
        refuse('unavailable', 'Too many pages are following. Load the page again.')
      const last = Number(context.request.headers.get('last-event-id') ?? after)
      const onBug = (error: unknown) => deps.log.error('explorer.follow_failed', error)
      return sseResponse(
        context,
        async (client) => {
          const { promise: gone, resolve: end } = Promise.withResolvers<void>()
          client.signal.addEventListener('abort', end)
          const follower = { client, network, end }
          try {
            await join(follower, Number.isSafeInteger(last) ? last : after)
            if (!client.signal.aborted) await gone
          } finally {
            leave(follower)
          }
        },
        { onBug },
      )
    },
  }
}

const nothing: Scene = { rows: [], parts: {}, heads: { anchored: 0, final: 0 } }

/** The rows after a place, and changes since `before`; undefined for none. */
function frameOf(
  { rows, parts, heads }: Scene,
  seen: number,
  before: Pick<Scene, 'parts' | 'heads'>,
): string | undefined {
  const fresh = rows.filter(({ place }) => place > seen)
  const changed = Object.entries(parts).filter(([id, { mark }]) => before.parts[id]?.mark !== mark)
  const isOnward = heads.anchored !== before.heads.anchored || heads.final !== before.heads.final
  if (fresh.length === 0 && changed.length === 0 && !isOnward) return undefined
  const isCut = rows.length > 0 && fresh.length === rows.length
  const message = {
    rows: fresh.map(({ draw }) => draw()),
    // There may be more between these and what the page shows: then it shows these alone.
    isCut,
    parts: Object.fromEntries(changed.map(([id, { draw }]) => [id, draw()])),
    // States of receipts follow from these.
    ...(isOnward && { heads }),
  }
  return `id: ${newestOf({ rows })}\n${dataFrame(JSON.stringify(message))}`
}

const newestOf = ({ rows }: Pick<Scene, 'rows'>): number => rows[0]?.place ?? -1

const networkOf = ({ request, server }: Peer, isTrusted: TrustedProxies): string =>
  rateKey(clientAddress(request, server, isTrusted))
