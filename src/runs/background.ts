/** Executes background runs, which were answered with 202 when they began. */
import type { Deps } from '../app/deps-port.ts'
import { Refusal } from '../kernel/refusal.ts'
import { complete } from './complete.ts'
import { type LiveRun, namesOf } from './live-run.ts'
import { stream } from './stream.ts'

/** Never throws: every outcome, errors too, ends in the run's row. */
export async function runInBackground(deps: Deps, live: LiveRun): Promise<void> {
  try {
    await start(deps, live)
  } catch (error) {
    deps.log.error('run.start_failed', error, namesOf(live))
    // The execution below then ends it at once and frees the hold.
    live.stop('shutdown')
  }
  try {
    if (live.model.kind === 'embedding') await complete(deps, live)
    else await stream(deps, live, { send: () => undefined })
  } catch (error) {
    if (!(error instanceof Refusal)) {
      deps.log.error('run.background_failed', error, namesOf(live))
    }
  }
}

/** `queued → running`. */
async function start({ ledger }: Pick<Deps, 'ledger'>, live: LiveRun): Promise<void> {
  const startedAt = await ledger.post({
    account: live.row.accountId,
    keys: [],
    run: live.id,
    decide(unit) {
      const run = unit.run(live.id)
      if (!run) throw new Error(`run ${live.id} is not open`)
      run.status = 'running'
      run.startedAt = unit.now
      unit.changed('run', run)
      return unit.now
    },
  })
  live.row.status = 'running'
  live.row.startedAt = startedAt
}
