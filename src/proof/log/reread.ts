/** Recomputes every log in the background, page by page, and reports a leaf that is damaged. */
import type { Deps } from '../../app/deps-port.ts'
import { noteDamage } from './damage.ts'
import type { LogSpan } from './logs.ts'
import type { LogReading } from './store/whole.ts'

/** Leaves that one tick reads: a few milliseconds on the thread of SQLite. */
const pageLeaves = 500
/** The pause between the starts of two passes over all logs, in ms. */
const passEveryMs = 60_000

type Needs = Pick<Deps, 'logs' | 'logStore' | 'health' | 'log' | 'clock'>

type Pass = {
  /** The logs still to be read, the one of `reading` first. */
  left: LogSpan[]
  reading: LogReading
  /** The leaves of the current log when the pass began. */
  size: number
  isSound: boolean
}

/**
 * A job. A wrong leaf is found at the latest when a whole pass is over: one takes two seconds for
 * every 500 leaves. A pass without a fault ends what was noted before.
 */
export function logChecker(deps: Needs, read: (log: LogSpan) => LogReading): () => Promise<void> {
  const { logs, logStore, health, clock } = deps
  let pass: Pass | undefined
  let beganAt = Number.NEGATIVE_INFINITY

  const begin = async (): Promise<Pass | undefined> => {
    const [first] = logs.all
    if (!first || clock.monotonic() - beganAt < passEveryMs) return undefined
    beganAt = clock.monotonic()
    const size = await logStore.size()
    return { left: [...logs.all], reading: read(first), size, isSound: true }
  }

  return async () => {
    pass ??= await begin()
    const [log, next] = pass?.left ?? []
    if (!pass || !log) return
    const { faults, isOver } = await pass.reading.next(pageLeaves)
    const [fault] = faults
    if (fault && pass.isSound) {
      pass.isSound = false
      noteDamage(deps, log, fault)
    }
    if (!isOver) return
    const { size } = pass.reading.state()
    if (log === logs.current && size < pass.size && pass.isSound) {
      pass.isSound = false
      noteDamage(deps, log, { leaf: size, how: 'it is missing' })
    }
    pass.left.shift()
    if (next) {
      pass.reading = read(next)
      return
    }
    if (pass.isSound) health.logDamage = null
    pass = undefined
  }
}
