/** Timers for deadlines that are usually cleared, cheap to set by the thousand. */
import { systemClock } from './clock.ts'

/** A moment by which something must have happened, or what was to be done then is done. */
export type Deadline = {
  /** It happened: nothing is done any more. Any number of times. */
  clear(): void
  /** It has all its time again, also when it was over. */
  refresh(): void
}

/**
 * Does `due` in `ms` unless it is cleared before. All of one length share one timer, because they
 * end in the order in which they began: a request sets several and clears nearly all of them, and a
 * timer of its own for each costs more than that. Keeps no process alive.
 */
export function deadlineIn(ms: number, due: () => void): Deadline {
  const known = queues.get(ms)
  if (known) return known(due)
  const made = makeQueue(ms)
  queues.set(ms, made)
  return made(due)
}

/** By length. There are as many as settings that name one. */
const queues = new Map<number, (due: () => void) => Deadline>()

/** A place in a ring; the anchor of the ring stands before the first and after the last. */
type Place = { before: Place; after: Place; at: number; due: () => void }

function makeQueue(ms: number): (due: () => void) => Deadline {
  const anchor = makePlace(() => undefined)
  let isArmed = false

  const arm = (inMs: number): void => {
    isArmed = true
    setTimeout(look, Math.max(1, inMs)).unref()
  }
  const look = (): void => {
    const now = systemClock.monotonic()
    try {
      for (let first = anchor.after; first.at <= now && first !== anchor; first = anchor.after) {
        leave(first)
        first.due()
      }
    } finally {
      // Only now, because what is due may set another one; and also when it threw.
      isArmed = false
      if (anchor.after !== anchor) arm(anchor.after.at - now)
    }
  }
  const join = (place: Place): void => {
    place.at = systemClock.monotonic() + ms
    place.before = anchor.before
    place.after = anchor
    anchor.before.after = place
    anchor.before = place
    if (!isArmed) arm(ms)
  }
  return (due) => {
    const place = makePlace(due)
    join(place)
    return {
      clear: () => leave(place),
      refresh() {
        leave(place)
        join(place)
      },
    }
  }
}

/** One that stands alone, beside itself. */
function makePlace(due: () => void): Place {
  const place = { at: 0, due } as Place
  place.before = place
  place.after = place
  return place
}

function leave(place: Place): void {
  place.before.after = place.after
  place.after.before = place.before
  place.before = place
  place.after = place
}
