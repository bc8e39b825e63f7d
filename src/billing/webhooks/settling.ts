/** Gathers the outcomes of attempts, and stores those that end close together in one COMMIT. */
import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'

/** So many are stored at once when they are there. */
const enough = 64
/** How long an outcome waits for others while messages are on their way, in ms. */
const gatherMs = 20

/** Outcomes that wait for their COMMIT, or are in it. */
export type SettlingQueue<T> = {
  /** How many there are. After a crash the messages of these are sent again. */
  readonly size: number
  add(outcome: T): void
  /** Stores what is there now, or right after the COMMIT in flight: nothing more will come. */
  flush(): void
}

/** One COMMIT is in flight at a time; the next takes what came meanwhile. `store` never throws. */
export function makeSettling<T>(store: (outcomes: T[]) => Promise<void>): SettlingQueue<T> {
  let waiting: T[] = []
  let inFlight = 0
  let isHurried = false
  let deadline: Deadline | undefined

  const flush = (): void => {
    isHurried = inFlight > 0
    if (inFlight > 0 || waiting.length === 0) return
    deadline?.clear()
    deadline = undefined
    const outcomes = waiting
    waiting = []
    inFlight = outcomes.length
    void store(outcomes).finally(() => {
      inFlight = 0
      if (isHurried || waiting.length >= enough) flush()
      else if (waiting.length > 0) gather()
    })
  }
  const gather = (): void => {
    deadline ??= deadlineIn(gatherMs, flush)
  }
  return {
    get size() {
      return waiting.length + inFlight
    },
    add(outcome) {
      waiting.push(outcome)
      if (waiting.length >= enough) flush()
      else gather()
    },
    flush,
  }
}
