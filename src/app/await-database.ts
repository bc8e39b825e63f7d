/** Waits at a start for a database that is away, and for the clock of this machine. */
import type { Clock, Millis } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { skewAdvice, skewOf } from '../kernel/skew.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { DatabaseAway } from '../storage/db/engine/opening-fault.ts'
import type { WaitingQueue } from '../web/http/waiting.ts'

type Needs = { waiting: Pick<WaitingQueue, 'enter'>; log: Log; clock: Clock }

/** Between two tries, in ms. */
const pauseMs = 1000

/**
 * Opens a database as soon as its server takes connections: after a power cut it may start later
 * than this machine. Any other error is thrown at once.
 */
export async function openWhenThere<T>(open: () => Promise<T>, needs: Needs): Promise<T> {
  const { waiting, log, clock } = needs
  const since = clock.monotonic()
  let logged = ''
  for (;;) {
    try {
      const opened = await open()
      if (logged !== '') log.info('database.found', { after_s: secondsSince(clock, since) })
      return opened
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw error
      waiting.enter('database')
      if (error.message !== logged) log.warn('database.awaited', { fault: error.message })
      logged = error.message
    }
    await Bun.sleep(pauseMs)
  }
}

/** Waits until the clock of this machine is right enough to serve, by the database's. */
export async function untilClockIsRight(db: Db, needs: Needs): Promise<void> {
  const { waiting, log, clock } = needs
  const leaseClock = await openLeaseClock(db, clock)
  const since = clock.monotonic()
  let isLogged = false
  for (;;) {
    const aheadMs = leaseClock.aheadMs() ?? 0
    if (skewOf(aheadMs) !== 'wrong') break
    waiting.enter('clock')
    const fields = { offset_ms: Math.round(aheadMs) }
    if (!isLogged) log.error('clock.wrong', new Error(skewAdvice(aheadMs, clock.now())), fields)
    isLogged = true
    await Bun.sleep(pauseMs)
    // A database that is away again is met by what comes next.
    await leaseClock.measure().catch(() => {})
  }
  if (isLogged) log.info('clock.right', { after_s: secondsSince(clock, since) })
}

const secondsSince = (clock: Clock, since: Millis): number =>
  Math.round((clock.monotonic() - since) / 1000)
