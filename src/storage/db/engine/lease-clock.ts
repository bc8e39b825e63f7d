/** The clock that judges leases: the one of the database, shared by all nodes. */
import type { Clock, Millis } from '../../../kernel/clock.ts'
import type { Db } from './db.ts'

/**
 * Read from the database now and then, and advanced by the monotonic clock in between, so that a
 * wrong or jumping wall clock changes nothing. On SQLite it is the clock of the process.
 */
export type LeaseClock = {
  /** Milliseconds since the Unix epoch. */
  now(): Millis
  /** Reads the database's clock. @throws what the database throws. */
  measure(): Promise<void>
  /** Measures if a connection broke since: the next server may have another clock. */
  refresh(): Promise<void>
  /** How far this machine's clock is ahead of the database's, in ms; null on SQLite. */
  aheadMs(): Millis | null
  /**
   * Whether this process has seen the database's clock for the length of a lease without a jump or
   * a gap; always so on SQLite. Until then a node that lives may not have renewed its lease.
   */
  isSteady(): boolean
}

/** How long a lease lasts without renewal, in ms. */
export const leaseMs = 10_000

/** A clock that is this much off what it should be was set, in ms; less is drift. */
const jumpMs = 2000
/** A pause between two readings in which leases may have ended unseen, in ms; one is due in 3 s. */
const gapMs = 7000

/** A time of the database, and the monotonic time at which it was read. */
type Reading = { at: Millis; monotonic: number }

/** Reads the database's clock once. @throws what the database throws. */
export async function openLeaseClock(
  db: Pick<Db, 'readClock' | 'onConnectionLost'>,
  clock: Clock,
): Promise<LeaseClock> {
  const { readClock } = db
  if (!readClock) {
    const nothing = async (): Promise<void> => {}
    const isSteady = () => true
    return { now: clock.now, measure: nothing, refresh: nothing, aheadMs: () => null, isSteady }
  }
  const read = async (): Promise<Reading & { error: number }> => {
    const sent = clock.monotonic()
    const at = await readClock()
    const error = (clock.monotonic() - sent) / 2
    return { at, monotonic: sent + error, error }
  }
  let last: Reading = await read()
  let readAt = last.monotonic
  let steadySince = readAt
  let isStale = false
  db.onConnectionLost(() => {
    isStale = true
  })
  const timeAt = (monotonic: number): Millis => Math.round(last.at + monotonic - last.monotonic)
  const measure = async (): Promise<void> => {
    const reading = await read()
    isStale = false
    // A slow answer replaces an earlier one only if it contradicts it.
    const difference = Math.abs(timeAt(reading.monotonic) - reading.at)
    const isJump = difference > reading.error + jumpMs
    if (isJump || reading.monotonic - readAt > gapMs) steadySince = reading.monotonic
    readAt = reading.monotonic
    if (difference > reading.error) last = reading
  }
  return {
    now: () => timeAt(clock.monotonic()),
    measure,
    refresh: async () => {
      if (isStale) await measure()
    },
    aheadMs: () => clock.now() - timeAt(clock.monotonic()),
    isSteady: () => {
      const now = clock.monotonic()
      return now - readAt <= gapMs && now - steadySince > leaseMs
    },
  }
}
