/** Live traffic of a demonstration: runs and shares of its own people. */
import type { Log } from '../../kernel/log.ts'
import { diceOf } from './dice.ts'
import { askWith, callerOf, maybeShare } from './month.ts'
import type { Call, People } from './people.ts'

export type Traffic = {
  call: Call
  people: People
  /** Milliseconds between two runs; none when 0. */
  everyMs: number
  /** Starts a series of draws of its own. */
  seed?: string
  log: Pick<Log, 'error'>
}

/** Starts it. Returns what stops it and waits a moment for the calls in flight. */
export function startTraffic({ call, people, everyMs, seed = '', log }: Traffic) {
  const dice = diceOf(`traffic ${seed}`)
  const open = new Set<Promise<unknown>>()
  let isOver = false
  const run = async (): Promise<void> => {
    const { person, key } = callerOf(dice, people)
    if (!key) return
    const { receipt } = await askWith(call, { person, key }, dice)
    if (receipt) await maybeShare(dice, call, { person, key, receipt })
  }
  const begin = (): void => {
    const done = run()
      .catch((error: unknown) => {
        // A stop cuts calls: those errors are expected.
        if (!isOver) log.error('demo.traffic_failed', error)
      })
      .finally(() => void open.delete(done))
    open.add(done)
  }
  const timer = everyMs > 0 ? setInterval(begin, everyMs) : undefined
  return async (): Promise<void> => {
    isOver = true
    clearInterval(timer)
    await Promise.race([Promise.all(open), Bun.sleep(1000)])
  }
}
