/**
 * After a crash: ends runs with a row that no process owns, of dead nodes or a restored database,
 * and frees their holds. A run that was in memory alone is gone with its hold: it was not charged,
 * and its caller got no answer. A settled run needs nothing here: the sequencer (proof/log) numbers
 * its receipt at the start, and a repeated call finds its kept answer (storage/idempotency).
 */
import type { Deps } from '../app/deps-port.ts'
import { pricesOfQuote, quoteDigestOf } from '../billing/quotes/apply-quote.ts'
import { modelAt } from '../models/price-hours.ts'
import type { Prices } from '../models/rates.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import { settle } from './settlement.ts'

/** Runs ended in one pass over the table. */
const batch = 500

/** A time at which every lease that has a row still lasts. */
const beforeAnyLease = 0

/**
 * Ends the runs that a dead process left open: nothing is charged, the hold is freed, and the
 * receipt says `interrupted`. Each run is one command, so a kill in between is safe. Stops between
 * batches once `isOver` returns true; the next call continues. Returns the number of runs ended.
 *
 * While the database's clock is not steady, a node is dead only if it has no lease at all: one that
 * lives may have had no time to renew its lease by the new time.
 */
export async function endAbandoned(
  deps: Deps,
  isOver: () => boolean = () => false,
): Promise<number> {
  let ended = 0
  const { leaseClock } = deps
  await leaseClock.refresh()
  for (;;) {
    const endsBy = leaseClock.isSteady() ? leaseClock.now() : beforeAnyLease
    const open = await deps.runs.abandoned(endsBy, batch)
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
 * Ends open runs of this node that it is not running: a database restored to an earlier state
 * holds runs that ended since. They are not charged again.
 */
export async function endReturned(deps: Deps): Promise<number> {
  const open = await deps.runs.openHere()
  // After the read: this process knows a run before its row exists and until its end is stored.
  const returned = open.filter(({ id }) => !deps.live.isOurs(id))
  let ended = 0
  const endOne = async ({ id }: { id: string }): Promise<void> => {
    const run = await deps.runs.find(id)
    if (run?.finishedAt === null && (await end(deps, run))) ended++
  }
  for (let i = 0; i < returned.length; i += batch) {
    await Promise.all(returned.slice(i, i + batch).map(endOne))
  }
  if (ended > 0) deps.log.warn('runs.returned', { count: ended })
  return ended
}

/** Returns false if another node ended the run first. */
async function end(deps: Deps, run: RunRow): Promise<boolean> {
  const prices = await pricesOf(deps, run)
  const durationMs = Math.max(0, deps.clock.now() - (run.startedAt ?? run.createdAt))
  try {
    await settle(deps, { open: run, prices, ending: interrupted, durationMs, call: {} })
    return true
  } catch (error) {
    const now = await deps.runs.find(run.id)
    if (now && now.finishedAt === null) throw error
    return false
  }
}

/** The prices that its receipt shows: those of its quote, if it has one. */
async function pricesOf({ quotes, catalogue }: Deps, run: RunRow): Promise<Prices | undefined> {
  const digest = quoteDigestOf(run)
  if (digest === undefined) {
    const model = catalogue.get(run.model)
    return model && modelAt(model, run.createdAt).prices
  }
  const quote = await quotes.byDigest(digest)
  return quote && pricesOfQuote(quote)
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
