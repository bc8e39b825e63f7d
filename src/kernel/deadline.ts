/** Timers for deadlines that are usually cleared, cheap to set by the thousand. */
import { systemClock } from './clock.ts'

/** A moment by which something must have happened, or what was to be done then is done. */
export type Deadline = {
  /** It happened: nothing is done any more. Any number of times. */
  clear(): void
  /** It has all its time again, also when it was over. */
  refresh(): void
}

/** Runs when the time is up. An object with a method saves allocating a closure per deadline. */
export type DeadlineListener = (() => void) | { handleDeadline(): void }

/**
 * Does `due` in `ms` unless it is cleared before. All of one length share one timer, because they
 * end in the order in which they began: a request sets several and clears nearly all of them, and a
 * timer of its own for each costs more than that. Keeps no process alive.
 */
export function deadlineIn(ms: number, due: DeadlineListener): Deadline {
  const queue = queues.get(ms) ?? addQueue(ms)
  const place = new Place(due, queue)
  queue.join(place)
  return place
}

/** By length. There are as many as settings that name one. */
const queues = new Map<number, Queue>()

function addQueue(ms: number): Queue {
  const queue = new Queue(ms)
  queues.set(ms, queue)
  return queue
}

/** A place in a ring; one that stands alone is beside itself. */
class Place implements Deadline {
  before: Place = this
  after: Place = this
  at = 0

  constructor(
    readonly due: DeadlineListener,
    private readonly queue: Queue | undefined,
  ) {}

  clear(): void {
    this.before.after = this.after
    this.after.before = this.before
    this.before = this
    this.after = this
  }

  refresh(): void {
    this.clear()
    this.queue?.join(this)
  }
}

/** The deadlines of one length, in a ring. */
class Queue {
  /** Stands before the first and after the last. */
  private readonly anchor = new Place(() => {}, undefined)
  private isArmed = false

  constructor(private readonly ms: number) {}

  join(place: Place): void {
    const { anchor } = this
    place.at = systemClock.monotonic() + this.ms
    place.before = anchor.before
    place.after = anchor
    anchor.before.after = place
    anchor.before = place
    if (!this.isArmed) this.arm(this.ms)
  }

  private arm(inMs: number): void {
    this.isArmed = true
    setTimeout(look, Math.max(1, inMs), this).unref()
  }

  look(): void {
    const { anchor } = this
    const now = systemClock.monotonic()
    try {
      for (let first = anchor.after; first.at <= now && first !== anchor; first = anchor.after) {
        first.clear()
        if (typeof first.due === 'function') first.due()
        else first.due.handleDeadline()
      }
    } finally {
      // Only now, because what is due may set another one; and also when it threw.
      this.isArmed = false
      if (anchor.after !== anchor) this.arm(anchor.after.at - now)
    }
  }
}

const look = (queue: Queue): void => queue.look()
