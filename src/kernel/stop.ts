/**
 * The part of `AbortSignal` that our code uses. An `AbortSignal` fits, but it costs a request a
 * microsecond or two, and so does each of its listeners; a plain object costs nearly nothing.
 */
export type StopSignal = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: StopListener, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: StopListener): void
}

export type StopListener = (() => void) | { handleEvent(): void }

/** A signal that is its own switch, used once. Listeners hear of it in the order they came. */
export class StopSwitch implements StopSignal {
  aborted = false
  private readonly listeners: StopListener[] = []

  addEventListener(_: 'abort', listener: StopListener, _once?: { once?: boolean }): void {
    this.listeners.push(listener)
  }

  removeEventListener(_: 'abort', listener: StopListener): void {
    const at = this.listeners.indexOf(listener)
    if (at !== -1) this.listeners.splice(at, 1)
  }

  stop(): void {
    this.aborted = true
    const { listeners } = this
    for (let next = listeners.shift(); next; next = listeners.shift()) {
      if (typeof next === 'function') next()
      else next.handleEvent()
    }
  }
}
