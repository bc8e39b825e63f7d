/**
 * What our own code asks of an `AbortSignal`. Any of those will do, but each of them and each of
 * its listeners costs a request a microsecond or two, which a plain object does not.
 */
export type StopSignal = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: StopListener, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: StopListener): void
}

export type StopListener = (() => void) | { handleEvent(): void }

/** A signal and its switch, to be used once. Listeners hear of it in the order they came. */
export function stopSwitch(): { signal: StopSignal; stop(): void } {
  const listeners = new Set<StopListener>()
  let aborted = false
  return {
    signal: {
      get aborted() {
        return aborted
      },
      addEventListener: (_, listener) => void listeners.add(listener),
      removeEventListener: (_, listener) => void listeners.delete(listener),
    },
    stop() {
      if (aborted) return
      aborted = true
      for (const listener of listeners) {
        if (typeof listener === 'function') listener()
        else listener.handleEvent()
      }
      listeners.clear()
    },
  }
}
