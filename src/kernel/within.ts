/** Waits for a promise for a limited time. */
import { deadlineIn } from './deadline.ts'

/**
 * What a promise gives, or undefined when that takes longer than `ms`; the work behind it goes on.
 * @throws what it throws in time.
 */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((done, failed) => {
    const deadline = deadlineIn(ms, () => done(undefined))
    promise.then(done, failed).finally(() => deadline.clear())
  })
}
