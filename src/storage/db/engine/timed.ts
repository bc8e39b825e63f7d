/** Measures how long writes take. */
import type { Clock } from '../../../kernel/clock.ts'
import type { Db } from './db.ts'

/** Wraps a database: `tell` gets the seconds of each write, its COMMIT included. */
export function timedDb(
  db: Db,
  clock: Pick<Clock, 'monotonic'>,
  tell: (seconds: number) => void,
): Db {
  return {
    ...db,
    async write(work, ended) {
      const startedAt = clock.monotonic()
      const value = await db.write(work, ended)
      tell((clock.monotonic() - startedAt) / 1000)
      return value
    },
  }
}
