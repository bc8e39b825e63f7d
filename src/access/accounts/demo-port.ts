/** A public demonstration: its hour, its limits and its visitors' credit. */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { Refusal } from '../../kernel/refusal.ts'

export type Demo = {
  /** When the data of now began; what was there before is gone. */
  readonly beganAt: Millis
  /** When the data of now goes. */
  readonly resetsAt: Millis
  /** Demo money of each new account, in nano-USD. */
  readonly credit: Nusd
  /**
   * Counts a request, before its route is looked up.
   * @throws Refusal `rate_limited`
   */
  admit(request: Request, clientAddress: string): void
  /**
   * Counts an account that signs in for the first time, and credits it.
   * @throws Refusal `rate_limited`
   */
  welcome(account: string, clientAddress: string): Promise<void>
  /** Adds the times of resets to refusals of limits and of things that a reset deleted. */
  explain(refusal: Refusal): Refusal
}
