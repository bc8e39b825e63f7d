/** Remembers that a model server does not take our key or account: its operator has to mend it. */
import type { Clock } from '../../kernel/clock.ts'

/** How long a fault stays at least, in ms: one that comes and goes is told once a minute. */
const leastMs = 60_000

/** The status of its answers (401, 402 or 403), and for how long they come, in ms. */
export type Fault = { status: number | undefined; forMs: number }

/** A fault that lasts from the first `denied` of a server until it answers well again. */
export class OperatorFault {
  private since: number | undefined
  private status: number | undefined
  private isMended = false

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  answered(): void {
    if (this.since !== undefined) this.isMended = true
  }

  failed({ reason, status }: { reason: string; status: number | undefined }): void {
    if (reason !== 'denied') return
    if (this.current === undefined) this.since = this.clock.monotonic()
    this.status = status ?? this.status
    this.isMended = false
  }

  get current(): Fault | undefined {
    if (this.since === undefined) return undefined
    const forMs = this.clock.monotonic() - this.since
    return this.isMended && forMs >= leastMs ? undefined : { status: this.status, forMs }
  }
}
