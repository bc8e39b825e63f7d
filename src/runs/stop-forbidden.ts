import type { Deps } from '../app/deps-port.ts'
import type { LiveRun } from './live.ts'

/** Ids asked about in one query. */
const batch = 500

type Needs = Pick<Deps, 'live' | 'keys' | 'accounts' | 'sessions' | 'clock'>

/**
 * Stops the runs of this process that lost their right to go on, on whichever node it ended: the
 * key or a key above it was revoked, the account was suspended, or the session of the browser that
 * asked ended. Runs each second, so such a run ends within two.
 */
export async function stopForbidden(deps: Needs): Promise<void> {
  const { live, keys, accounts, sessions, clock } = deps
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

/** Those of the ids that a query finds, asked in batches. */
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
