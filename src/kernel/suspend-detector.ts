/** Notices that the machine or the process was suspended. */
import { type Clock, systemClock } from './clock.ts'

/** The interval of checks, in ms. */
const everyMs = 1000

/** The shortest suspension that counts, in ms. */
const leastMs = 5000

/**
 * Counts pauses of at least {@link leastMs} when called each {@link everyMs}: the machine slept,
 * the process was stopped, or one turn took as long. Compares both clocks, because one may stop
 * while the machine sleeps; a wall clock set forward counts too.
 */
export function suspendCounter(clock: Clock): () => number {
  let [time, passed] = [clock.now(), clock.monotonic()]
  let suspends = 0
  return () => {
    const before = [time, passed] as const
    time = clock.now()
    passed = clock.monotonic()
    if (Math.max(time - before[0], passed - before[1]) > everyMs + leastMs) suspends++
    return suspends
  }
}

let ofProcess: (() => number) | undefined

/** The suspensions of this process since the first call. */
export function suspendsSeen(): number {
  if (!ofProcess) {
    ofProcess = suspendCounter(systemClock)
    setInterval(ofProcess, everyMs).unref()
  }
  return ofProcess()
}
