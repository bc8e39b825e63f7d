/** The accounts that used an upstream in the last 30 s, by the outcome of their last request. */

/** How the last request of an account ended; `asked` while none of its requests did. */
type Verdict = 'asked' | 'answered' | 'failed'

/** The accounts that asked one upstream lately, by how their last request ended. */
export type RecentAccounts = {
  note(account: string, verdict: Verdict): void
  /** How many accounts each verdict has now. */
  counts(): Readonly<Record<Verdict, number>>
  /** The accounts whose last request failed. */
  failing(): string[]
}

/** How long an account counts after its last request or answer, in ms. */
const recentMs = 30_000

/** The most accounts that are remembered; beyond that the one that asked longest ago is not. */
export const mostAccounts = 4096

export function recentAccounts(clock: { monotonic(): number }): RecentAccounts {
  /** The accounts in the order of their last request or answer. */
  const accounts = new Map<string, { verdict: Verdict; at: number }>()
  const counts: Record<Verdict, number> = { asked: 0, answered: 0, failed: 0 }

  const forget = (account: string): void => {
    const known = accounts.get(account)
    if (known) counts[known.verdict]--
    accounts.delete(account)
  }
  const forgetOld = (now: number): void => {
    for (const [account, { at }] of accounts) {
      if (now - at < recentMs && accounts.size <= mostAccounts) return
      forget(account)
    }
  }

  return {
    note(account, verdict) {
      const now = clock.monotonic()
      const known = accounts.get(account) ?? { verdict, at: now }
      forget(account)
      // A new request says nothing yet: what came of the last one still counts.
      if (verdict !== 'asked') known.verdict = verdict
      known.at = now
      accounts.set(account, known)
      counts[known.verdict]++
      forgetOld(now)
    },
    counts() {
      forgetOld(clock.monotonic())
      return counts
    },
    failing: () =>
      [...accounts].flatMap(([account, { verdict }]) => (verdict === 'failed' ? [account] : [])),
  }
}
