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

/** A signal that is its own switch, used once. Listeners hear of it in the order they came. */
export class StopSwitch implements StopSignal {
  aborted = false
  /** Nearly always the only one, and so not worth a set. */
  private first: StopListener | undefined
  private others: Set<StopListener> | undefined

  addEventListener(_: 'abort', listener: StopListener, _once?: { once?: boolean }): void {
    if (!this.first && !this.others?.size) this.first = listener
    else {
      this.others ??= new Set()
      this.others.add(listener)
    }
  }

  removeEventListener(_: 'abort', listener: StopListener): void {
    if (this.first === listener) this.first = undefined
    else this.others?.delete(listener)
  }

  stop(): void {
    if (this.aborted) return
    this.aborted = true
    const { first } = this
    this.first = undefined
    if (first) tell(first)
    for (const listener of this.others ?? []) tell(listener)
    this.others = undefined
  }
}

function tell(listener: StopListener): void {
  if (typeof listener === 'function') listener()
  else listener.handleEvent()
}
