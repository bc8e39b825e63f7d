import type { Deps } from '../app/deps-port.ts'
import { Refusal } from '../kernel/refusal.ts'
import { complete, stream } from './execute.ts'
import { type LiveRun, namesOf } from './live.ts'

type Needs = Parameters<typeof stream>[0] & Pick<Deps, 'ledger'>

/** Runs what was answered with 202. Whatever happens ends in the run's row; nothing is thrown. */
export async function runInBackground(deps: Needs, live: LiveRun): Promise<void> {
  try {
    await start(deps, live)
  } catch (error) {
    deps.log.error('run.start_failed', error, namesOf(live))
    // The engine below ends it at once and frees the hold.
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
async function start(deps: Needs, live: LiveRun): Promise<void> {
  const startedAt = await deps.ledger.post({
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
