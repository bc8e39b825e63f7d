import { type Clock, systemClock } from './clock.ts'

/** Between two looks at the clocks, in ms. */
const everyMs = 1000

/** How much longer it takes from one look to the next when nothing ran in between, in ms. */
const leastMs = 5000

/**
 * Counts how often nothing ran for {@link leastMs} and more, as far as it is asked each
 * {@link everyMs}: the machine slept, the process was stopped, one turn took as long. While a
 * machine sleeps one clock may stand. One that is set forward looks the same.
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

/** How often it happened to this process since somebody first asked. Keeps no process alive. */
export function suspendsSeen(): number {
  if (!ofProcess) {
    ofProcess = suspendCounter(systemClock)
    setInterval(ofProcess, everyMs).unref()
  }
  return ofProcess()
}
