/** Stops the runs in flight whose key, account or session lost its rights. */
import type { Deps } from '../app/deps-port.ts'
import type { LiveRun } from './live-run.ts'

/** Ids in one query. */
const batch = 500

/**
 * Stops runs of this process whose key or parent key was revoked, whose account was suspended, or
 * whose browser session ended, on any node. Called every second, so they end within two.
 */
export async function stopForbidden({
  live,
  keys,
  accounts,
  sessions,
  clock,
}: Pick<Deps, 'live' | 'keys' | 'accounts' | 'sessions' | 'clock'>): Promise<void> {
  const runs = live.all()
  const revoked = await among(runs.flatMap(keysOf), keys.revokedAmong)
  const suspended = await among(runs.map(accountOf), accounts.suspendedAmong)
  const asking = runs.flatMap(({ session }) => session ?? [])
  const signedIn = await among(asking, (ids) => sessions.liveAmong(ids, clock.now()))
  for (const run of runs) {
    if (keysOf(run).some((id) => revoked.has(id))) run.stop('key_revoked')
    else if (suspended.has(accountOf(run))) run.stop('account_suspended')
    else if (run.session !== undefined && !signedIn.has(run.session)) run.stop('session_ended')
  }
}

const keysOf = ({ row }: LiveRun): string[] => row.windows.map(([keyId]) => keyId)
const accountOf = ({ row }: LiveRun): string => row.accountId

/** The ids that a query finds, in batches. */
async function among(
  ids: readonly string[],
  find: (ids: string[]) => Promise<{ id: string }[]>,
): Promise<Set<string>> {
  const each = [...new Set(ids)]
  const found = new Set<string>()
  for (let from = 0; from < each.length; from += batch) {
    for (const { id } of await find(each.slice(from, from + batch))) found.add(id)
  }
  return found
}
