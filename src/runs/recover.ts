import type { Deps } from '../app/deps-port.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { settle } from './finish.ts'

type Needs = Parameters<typeof settle>[0] & Pick<Deps, 'runs' | 'catalogue' | 'log' | 'leaseClock'>

/** Runs ended in one pass over the table. */
const batch = 500

/**
 * Ends the runs that a dead process left open: nothing is charged, the hold is freed, and a
 * receipt says `interrupted`. Safe to be killed in and to be repeated: each run is one command.
 * Begins no more of them once `isOver` says so; whoever calls it next goes on with what is left.
 */
export async function endAbandoned(
  deps: Needs,
  isOver: () => boolean = () => false,
): Promise<number> {
  let ended = 0
  await deps.leaseClock.refresh()
  for (;;) {
    const open = await deps.runs.abandoned(deps.leaseClock.now(), batch)
    const tried = await Promise.allSettled(open.map((run) => end(deps, run)))
    const failure = tried.find((one) => one.status === 'rejected')
    if (failure) throw failure.reason
    if (open.length > 0) await deps.runs.forgetCancels(open.map(({ id }) => id))
    ended += tried.filter((one) => one.status === 'fulfilled' && one.value).length
    if (open.length < batch || isOver()) break
  }
  if (ended > 0) deps.log.warn('runs.interrupted', { count: ended })
  return ended
}

/**
 * Ends the runs that name this process and that it does not have: a database that went back to an
 * earlier state gives back runs that ended. Nothing is charged for them again.
 */
export async function endReturned(deps: Needs & Pick<Deps, 'live'>): Promise<number> {
  const open = await deps.runs.openHere()
  // After the read: a run is known here before its row is, and until its end is stored.
  const returned = open.filter(({ id }) => !deps.live.isOurs(id))
  let ended = 0
  for (const { id } of returned) {
    const run = await deps.runs.find(id)
    if (run?.finishedAt === null && (await end(deps, run))) ended++
  }
  if (ended > 0) deps.log.warn('runs.returned', { count: ended })
  return ended
}

/** Ends one run; false when another node did it in the meantime. */
async function end(deps: Needs, run: RunRow): Promise<boolean> {
  const prices = deps.catalogue.get(run.model)?.prices
  const durationMs = Math.max(0, deps.clock.now() - (run.startedAt ?? run.createdAt))
  try {
    await settle(deps, run, prices, interrupted, durationMs, { call: {} })
    return true
  } catch (error) {
    const now = await deps.runs.find(run.id)
    if (now && now.finishedAt === null) throw error
    return false
  }
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
