/** Judges how far the clock of this machine is off. */
import { type Millis, toRfc3339 } from './clock.ts'
import { Refusal } from './refusal.ts'

/**
 * How well the clock of this machine agrees with the database's: `skewed` is a warning, `wrong`
 * means that the server refuses to serve.
 */
export type Skew = 'ok' | 'skewed' | 'wrong'

/** The offsets above which a clock is skewed and wrong, in ms. */
const skewedAboveMs = 2000
const wrongAboveMs = 30_000

/** Judges an offset in ms, of either sign; null, where there is no other clock, is `ok`. */
export function skewOf(aheadMs: Millis | null): Skew {
  const distance = Math.abs(aheadMs ?? 0)
  if (distance > wrongAboveMs) return 'wrong'
  return distance > skewedAboveMs ? 'skewed' : 'ok'
}

/** `61.2 s ahead of`, `3.0 s behind`. */
export const skewWords = (aheadMs: Millis): string =>
  `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'}`

/** The refusal of every write while this server's clock is wrong; undefined otherwise. */
export function wrongClock(aheadMs: Millis | null): Refusal | undefined {
  if (aheadMs === null || skewOf(aheadMs) !== 'wrong') return undefined
  const message =
    `The clock of this server is ${skewWords(aheadMs)} its database's. Nothing was stored or ` +
    'charged. The server goes on by itself when its operator has set the clock.'
  const headers = { 'retry-after': '5' }
  return new Refusal('unavailable', { message, metadata: { reason: 'clock' }, headers })
}

/** For an operator: both clocks, and what to do. `now` is this machine's clock. */
export function skewAdvice(aheadMs: Millis, now: Millis): string {
  const times = `${toRfc3339(now)} here, ${toRfc3339(now - aheadMs)} there`
  const words = `the clock of this machine is ${skewWords(aheadMs)} the database's (${times})`
  return `${words}; set it: timedatectl set-ntp true`
}
