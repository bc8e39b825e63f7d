/** A nonce of a sign-in: one browser may use it once, within five minutes. */
import type { Millis } from '../../kernel/clock.ts'
import type { NonceRow } from '../../storage/db/schema/schema.ts'

export const nonceLifeMs = 5 * 60_000

/** The sign-ins that were begun. The number kept is limited: a flood drops the oldest. */
export type Nonces = {
  add(row: NonceRow): Promise<void>
  /** The nonce if this browser asked for it and it has not expired or been used. */
  find(nonce: string, browserHash: string, now: Millis): Promise<NonceRow | undefined>
  /** Uses up the nonce. True for one caller only, and only while {@link Nonces.find} finds it. */
  take(nonce: string, browserHash: string, now: Millis): Promise<boolean>
  dropExpired(now: Millis): Promise<void>
}
