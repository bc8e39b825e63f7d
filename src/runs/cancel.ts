import type { RunRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'

/** How long a cancelled run may take to settle before the answer shows it as it is, in ms. */
const settleWithinMs = 2000

/**
 * Stops a run at once; what it delivered is charged. Returns it settled.
 * @throws Refusal `conflict` when it has ended, or runs on another node.
 */
export async function cancelRun(
  { live, runs }: Pick<Deps, 'live' | 'runs'>,
  run: RunRow,
): Promise<RunRow> {
  const found = live.find(run.id)
  if (!found) {
    const now = await runs.find(run.id)
    if (now && now.finishedAt === null) {
      refuse('conflict', 'The run is on another node. Ask that one.')
    }
    refuse('conflict', `The run has ended: it is ${now?.status}.`)
  }
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
  return (await runs.find(run.id)) ?? run
}
