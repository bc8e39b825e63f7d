/** Stops the runs in flight whose key, account or session lost its rights. */
import type { Deps } from '../app/deps-port.ts'
import { keysIn } from '../ledger/brake.ts'
import type { LiveRun } from './live-run.ts'

/** Ids in one query. */
const batch = 500

/**
 * Stops runs of this process whose key or parent key was revoked or braked, whose account was
 * suspended, or whose browser session ended, on any node. Called every second, so they end within
 * two.
 */
export async function stopForbidden({
  live,
  keys,
  accounts,
  sessions,
  clock,
}: Pick<Deps, 'live' | 'keys' | 'accounts' | 'sessions' | 'clock'>): Promise<void> {
  const runs = live.all()
  const stopped = await among(runs.flatMap(keysOf), keys.stoppedAmong)
  const suspended = await among(runs.map(accountOf), accounts.suspendedAmong)
  const asking = runs.flatMap(({ session }) => session ?? [])
  const signedIn = await among(asking, (ids) => sessions.liveAmong(ids, clock.now()))
  for (const run of runs) {
    const reasons = keysOf(run).flatMap((id) => stopped.get(id)?.reason ?? [])
    if (reasons.includes('key_revoked')) run.stop('key_revoked')
    else if (reasons.length > 0) run.stop('brake')
    else if (suspended.has(accountOf(run))) run.stop('account_suspended')
    else if (run.session !== undefined && !signedIn.has(run.session)) run.stop('session_ended')
  }
}

const keysOf = ({ row }: LiveRun): string[] => keysIn(row.windows)
const accountOf = ({ row }: LiveRun): string => row.accountId

/** Queries these ids in batches. */
async function among<Found extends { id: string }>(
  ids: readonly string[],
  find: (ids: string[]) => Promise<Found[]>,
): Promise<Map<string, Found>> {
  const each = [...new Set(ids)]
  const found = new Map<string, Found>()
  for (let from = 0; from < each.length; from += batch) {
    for (const one of await find(each.slice(from, from + batch))) found.set(one.id, one)
  }
  return found
}
