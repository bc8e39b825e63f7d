import type { Clock } from '../kernel/clock.ts'

/** What a background check found of the ledger; `checking` until the first one came through. */
export type LedgerHealth = 'balanced' | 'checking' | 'unbalanced'

/** How this process is, as its jobs found it. Doors read it, jobs write it. */
export type Health = {
  startedAt: number
  ledger: LedgerHealth
  /** Set when the process has begun to stop: nothing new is taken. */
  stopping: boolean
}

export const newHealth = (clock: Pick<Clock, 'monotonic'>): Health => ({
  startedAt: clock.monotonic(),
  ledger: 'checking',
  stopping: false,
})
