/*
 * While a promise is pending, `rejects` of `expect` turns the event loop itself. Bun then runs
 * `setImmediate`, which every write to SQLite needs, only when the next timer fires: each write takes
 * up to a second. The functions here await the promise first.
 */

/** Returns the reason of a rejection. @throws Error if the promise is fulfilled. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (reason: unknown) => ({ reason }),
  )
  if ('reason' in outcome) return outcome.reason
  throw new Error(`fulfilled with ${Bun.inspect(outcome.value)}`)
}

/** Returns a function that throws the reason of a rejection, for `toThrow`, or returns the value. */
export function outcomeOf(promise: Promise<unknown>): Promise<() => unknown> {
  return promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error
    },
  )
}
