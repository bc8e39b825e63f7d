/** The places of attempts on their way, so that endpoints that take long leave room for others. */

/** Places of endpoints whose last answer came in time, of all others, and of urgent events. */
const most = { proven: 768, unproven: 256, urgent: 128 }
/** An attempt gives its place back after this time, in ms: most endpoints answer before. */
export const lingerAfterMs = 250
/** Attempts on their way that gave their place back. */
const lingeringMost = 1024

type Kind = keyof typeof most

/** An attempt on its way. */
export type Flight = { startedAt: number; kind: Kind; isUrgent: boolean }

export function makePlaces(now: () => number) {
  // Both in the order of their starts.
  const placed = new Set<Flight>()
  const lingering = new Set<Flight>()
  const taken: Record<Kind, number> = { proven: 0, unproven: 0, urgent: 0 }

  const leave = (flight: Flight): boolean => {
    if (!placed.delete(flight)) return false
    taken[flight.kind] -= 1
    return true
  }
  const hasRoom = (kind: Kind): boolean => taken[kind] < most[kind]

  return {
    get flying() {
      return placed.size + lingering.size
    },
    /** Whether any attempt could start. */
    get hasRoom() {
      return hasRoom('proven') || hasRoom('unproven') || hasRoom('urgent')
    },
    /** Takes the places back of attempts that take long. */
    relieve(): void {
      const before = now() - lingerAfterMs
      for (const flight of placed) {
        if (flight.startedAt > before || lingering.size >= lingeringMost) return
        leave(flight)
        lingering.add(flight)
      }
    },
    /** Undefined while there is no place. Urgent events have places beside those. */
    start({ isProven, isUrgent }: { isProven: boolean; isUrgent: boolean }): Flight | undefined {
      const own: Kind = isProven ? 'proven' : 'unproven'
      const kind: Kind = isUrgent && !hasRoom(own) ? 'urgent' : own
      if (!hasRoom(kind)) return undefined
      const flight: Flight = { startedAt: now(), kind, isUrgent }
      placed.add(flight)
      taken[kind] += 1
      return flight
    },
    end(flight: Flight): void {
      if (!leave(flight)) lingering.delete(flight)
    },
  }
}
