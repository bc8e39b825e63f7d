/** Cancels runs, on this node or through the node that runs them. */
import type { Deps } from '../app/deps-port.ts'
import { refuse } from '../kernel/refusal.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import type { LiveRun } from './live-run.ts'

/** How long to wait for a cancelled run of this node to settle, in ms. */
const settleWithinMs = 2000
/** The longest wait for a run of another node, which polls cancel requests every second, in ms. */
const otherWithinMs = 5000
const lookEveryMs = 100

/**
 * Stops a run: at once on this node, within two seconds on another. Output delivered so far is
 * charged. Returns the settled run, or the open one if settling takes too long.
 * @throws Refusal `conflict` when it has ended.
 */
export async function cancelRun(
  deps: Pick<Deps, 'live' | 'runs' | 'clock'>,
  run: RunRow,
): Promise<RunRow> {
  const found = deps.live.find(run.id)
  if (found) await stopHere(found)
  else await askOther(deps, run.id)
  return (await deps.runs.find(run.id)) ?? run
}

async function stopHere(found: LiveRun): Promise<void> {
  const settled = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, settleWithinMs)
    found.watch((chunks) => {
      if (chunks) return
      clearTimeout(timer)
      resolve()
    })
  })
  found.stop('cancelled')
  await settled
}

async function askOther({ runs, clock }: Pick<Deps, 'runs' | 'clock'>, id: string): Promise<void> {
  const now = await runs.find(id)
  if (now?.finishedAt !== null) refuse('conflict', `The run has ended: it is ${now?.status}.`)
  await runs.askToCancel(id)
  const until = clock.monotonic() + otherWithinMs
  while (clock.monotonic() < until) {
    await Bun.sleep(lookEveryMs)
    if ((await runs.find(id))?.finishedAt === null) continue
    // Its node may have stopped without reading the request.
    return runs.forgetCancels([id])
  }
}

/** Stops runs of this process that were cancelled through another one. Called every second. */
export async function stopCancelled({ live, runs }: Pick<Deps, 'live' | 'runs'>): Promise<void> {
  const here = live.all()
  for (let from = 0; from < here.length; from += batch) {
    const some = here.slice(from, from + batch)
    const asked = await runs.cancelledAmong(some.map(({ id }) => id))
    if (asked.length === 0) continue
    for (const run of some) if (asked.includes(run.id)) run.stop('cancelled')
    await runs.forgetCancels(asked)
  }
}

/** Ids in one query. */
const batch = 500
