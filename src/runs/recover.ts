import type { Deps } from '../deps.ts'
import { settle } from './finish.ts'

type Needs = Parameters<typeof settle>[0] & Pick<Deps, 'runs' | 'catalogue' | 'log'>

/** Runs ended in one pass over the table. */
const batch = 500

/**
 * Ends the runs that a dead process left open: nothing is charged, the hold is freed, and a
 * receipt says `interrupted`. Safe to be killed in and to be repeated: each run is one command.
 */
export async function endAbandoned(deps: Needs): Promise<number> {
  let ended = 0
  for (;;) {
    const open = await deps.runs.abandoned(deps.clock.now(), batch)
    await Promise.all(
      open.map((run) => {
        const prices = deps.catalogue.get(run.model)?.prices
        const durationMs = Math.max(0, deps.clock.now() - (run.startedAt ?? run.createdAt))
        return settle(deps, run, prices, interrupted, durationMs)
      }),
    )
    ended += open.length
    if (open.length < batch) break
  }
  if (ended > 0) deps.log.warn('runs.interrupted', { count: ended })
  return ended
}

const interrupted = {
  outcome: 'interrupted',
  route: '',
  usage: undefined,
  usageSource: 'counted',
  clamped: false,
  firstByteAt: null,
  error: { type: 'unavailable', message: 'The server stopped during the run.' },
  output: null,
} as const
