import type { Deps } from '../deps.ts'

/** Keys asked about in one query. */
const batch = 500

/**
 * Stops the runs in flight whose key, or a key above it, was revoked, or whose account was
 * suspended, wherever that happened. Runs each second, so such a run ends within two.
 */
export async function stopForbidden(deps: Pick<Deps, 'live' | 'keys' | 'accounts'>): Promise<void> {
  const runs = deps.live.all()
  const keyIds = [...new Set(runs.flatMap((run) => run.row.windows.map(([keyId]) => keyId)))]
  const revoked = new Set<string>()
  for (let from = 0; from < keyIds.length; from += batch) {
    for (const { id } of await deps.keys.revokedAmong(keyIds.slice(from, from + batch))) {
      revoked.add(id)
    }
  }
  const accounts = [...new Set(runs.map((run) => run.row.accountId))]
  const suspended = new Set<string>()
  for (let from = 0; from < accounts.length; from += batch) {
    for (const { id } of await deps.accounts.suspendedAmong(accounts.slice(from, from + batch))) {
      suspended.add(id)
    }
  }
  for (const run of runs) {
    const isRevoked = run.row.windows.some(([keyId]) => revoked.has(keyId))
    if (isRevoked) run.stop('key_revoked')
    else if (suspended.has(run.row.accountId)) run.stop('account_suspended')
  }
}
