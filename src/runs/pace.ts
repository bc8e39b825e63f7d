/** Spaces requests of accounts without money, so that the thread is free for others in between. */
import type { Millis } from '../kernel/clock.ts'
import { refuse } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'

/** A request takes about this long of the thread, in ms, and a byte of its body so much more. */
const requestMs = 5
const byteMs = 1 / 250
const mostMs = 3000
/** The longest wait, in ms; requests beyond it are told to come again. */
const waitMs = 10_000

const crowded = 'Many accounts without money wait here. Wait as Retry-After says, or deposit.'

/** The time at which the next run of any account without money of this process may begin. */
export class Pace {
  private next = 0

  /**
   * Takes a turn for a body of so many bytes; resolves at once if no other waits.
   * @param now by a clock that does not jump
   * @throws Refusal `concurrency_limited` where the turns of others take too long
   */
  take(now: Millis, bytes: number): Promise<void> | undefined {
    const at = Math.max(now, this.next)
    if (at - now > waitMs) {
      refuse('concurrency_limited', { message: crowded, headers: retryHeaders(at - now) })
    }
    this.next = at + Math.min(mostMs, requestMs + bytes * byteMs)
    return at > now ? Bun.sleep(at - now) : undefined
  }
}
