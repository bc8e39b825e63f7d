/** Limits guesses of voucher codes by account and by network. */
import type { Deps } from '../../../app/deps-port.ts'
import { tooMany } from '../../../web/http/limits.ts'
import type { Guesses } from '../redeem-voucher.ts'

/**
 * Each may try `failed_auth_per_minute` unknown codes a minute. Networks are counted only where
 * proxies are trusted: behind one that is not, all clients have one address, and one that guesses
 * would keep the others from redeeming. A code has 128 random bits.
 */
export function guessesOf(
  { limiters, settings }: Pick<Deps, 'limiters' | 'settings'>,
  { account, network }: { account: string; network: string },
): Guesses {
  const { failedAuthPerMinute, trustedProxies } = settings
  const counted = [`account ${account}`]
  if (trustedProxies.length > 0) counted.push(`network ${network}`)
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
