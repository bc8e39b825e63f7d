/** Limits guesses of voucher codes by account and by network. */
import type { Deps } from '../../../app/deps-port.ts'
import { tooMany } from '../../../web/http/limits.ts'
import type { Guesses } from '../redeem-voucher.ts'

/** Each may try `failed_auth_per_minute` unknown codes a minute. */
export function guessesOf(
  { limiters, settings }: Pick<Deps, 'limiters' | 'settings'>,
  { account, network }: { account: string; network: string },
): Guesses {
  const { failedAuthPerMinute } = settings
  const counted = [`account ${account}`, `network ${network}`]
  return {
    assertLeft(): void {
      for (const one of counted) {
        const verdict = limiters.voucherFailures.peek(one, failedAuthPerMinute)
        if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
      }
    },
    count(): void {
      for (const one of counted) limiters.voucherFailures.take(one, failedAuthPerMinute)
    },
  }
}
