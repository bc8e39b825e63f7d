/** Gives open runs a row when they are no longer new, so that a crash is told as `interrupted`. */
import type { Deps } from '../app/deps-port.ts'
import type { Millis } from '../kernel/clock.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import type { OpenRuns } from '../storage/holds/open-runs.ts'

/** The age in ms at which a run gets its row: most have ended before. */
const youngMs = 500

/**
 * Stores the holds of runs that are in memory alone and older than half a second. No caller waits
 * for it; a run that it could not store is tried again.
 */
export async function storeOpenRuns(
  deps: Pick<Deps, 'ledger' | 'clock'>,
  open: OpenRuns,
): Promise<void> {
  const before: Millis = deps.clock.now() - youngMs
  const due = [...open.all()].filter(({ createdAt }) => createdAt <= before)
  const tried = await Promise.allSettled(due.map((run) => storeOpenRun(deps, run)))
  const failure = tried.find((one) => one.status === 'rejected')
  if (failure) throw failure.reason
}

const storeOpenRun = ({ ledger }: Pick<Deps, 'ledger'>, run: RunRow): Promise<void> =>
  ledger.post({
    account: run.accountId,
    keys: [],
    windows: run.windows,
    run: run.id,
    decide(unit) {
      // Since it was listed it may have ended, or have got its row by a try before.
      if (unit.run(run.id) === run) unit.storeRun(run)
    },
  })
