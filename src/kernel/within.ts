/** Waits for a promise for a limited time. */
import { deadlineIn } from './deadline.ts'

/**
 * Waits at most `ms` for a promise, then returns undefined; the work behind it goes on.
 * @throws the promise's own error, if it comes in time.
 */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((done, failed) => {
    const deadline = deadlineIn(ms, () => done(undefined))
    promise.then(done, failed).finally(() => deadline.clear())
  })
}
