/** Ends a run: stores its settlement, or frees its hold when that fails. */

import type { Deps } from '../app/deps-port.ts'
import { toHex } from '../kernel/hex.ts'
import { Refusal } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { keysIn } from '../ledger/brake.ts'
import { type Prices, unpricedUnits } from '../models/rates.ts'
import { pricesAt } from '../models/step-prices.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import { noteAnswer } from '../proof/upstream-evidence/evidence-rows.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import { type LiveRun, namesOf } from './live-run.ts'
import {
  type Ending,
  type FinishedRun,
  type RunEnd,
  RunNotOpen,
  Settlement,
  type StoredParts,
  settle,
} from './settlement.ts'

/**
 * Does all of it in one command and resolves after its COMMIT. If that fails, nothing is charged
 * and the hold is freed when the database accepts writes again. After a fault with `doubt` the run
 * may have been charged.
 */
export async function finish(
  deps: Deps,
  live: LiveRun,
  ending: Ending,
  { reply, items }: StoredParts = {},
): Promise<FinishedRun> {
  const call = live.call === undefined ? undefined : { scope: live.call, reply }
  const durationMs = Math.round(deps.clock.monotonic() - live.startedAt)
  const { received, row, exchange } = live
  const isOpen = exchange !== undefined && exchange.answer === undefined
  const prices = pricesAt(live.model, live.step)
  const safely =
    items &&
    ((settled: FinishedRun) => {
      try {
        return items(settled)
      } catch (fault) {
        // The answer was delivered: it is charged also where a next turn cannot name it.
        deps.log.error('responses.not_kept', fault, namesOf(live))
        return []
      }
    })
  const of: RunEnd = {
    open: row,
    prices,
    ending,
    durationMs,
    exchange,
    received,
    call,
    items: safely,
  }
  try {
    const settlement = new Settlement(deps, of)
    const done = await postEnd(deps, settlement, of)
    if (settlement.items) deps.keptItems.added(settlement.items)
    const { id: runId, digest, cost, finishedAt: at } = done.run
    if (ending.usage?.classes) {
      deps.meters.unpriced(live.model.id, unpricedUnits(prices, ending.usage))
    }
    if (ending.contradicts) deps.meters.contradicted(live.model.id, ending.contradicts)
    if (digest && at !== null) deps.acknowledged.add({ runId, digest, cost, at })
    if (isOpen && done.run.outcome === 'complete') void noteAnswer(deps, runId, exchange)
    live.span?.end(done.run, ending)
    if (live.unknownFinish !== undefined) noteFinish(deps, live)
    return done
  } catch (error) {
    deps.log.error('run.settle_failed', error, namesOf(live))
    live.span?.end({ ...row, ...unstored })
    freeLater(deps, row, prices, { ...ending, ...unstored }, durationMs)
    throw error instanceof RunNotOpen ? await whyNotOpen(deps, error) : error
  } finally {
    deps.live.remove(live.id)
    deps.live.release(live.row.accountId, keysIn(live.row.windows))
    live.tell(undefined)
  }
}

/** The refusal of a run that another node ended; the error where none did. */
async function whyNotOpen({ runs }: Deps, error: RunNotOpen): Promise<Error> {
  const run = await runs.find(error.run).catch(() => undefined)
  return run?.outcome === 'interrupted' ? endedElsewhere(run.id) : error
}

const endedElsewhere = (id: string): Refusal =>
  new Refusal('unavailable', {
    message:
      'This server was cut off from its database, and another one ended the run in its place. ' +
      'Nothing was charged; try again.',
    metadata: { reason: 'run_interrupted', run_id: id, receipt_id: receiptIdOf(id) },
    headers: { ...retryHeaders(1000), 'x-receipt-id': receiptIdOf(id) },
  })

/** Tells the operator of a word that ended an answer and was taken for `stop`. */
const noteFinish = ({ log }: Deps, live: LiveRun): void =>
  log.warn('upstream.finish_unknown', {
    ...namesOf(live),
    finish_reason: live.unknownFinish?.slice(0, 64),
  })

/**
 * Stores the end of a run. After a COMMIT whose answer is lost it finds out whether the end was
 * stored, and posts the same command again if not: it made the answer that the caller is told.
 */
async function postEnd(deps: Deps, settlement: Settlement, of: RunEnd): Promise<FinishedRun> {
  try {
    await deps.ledger.post(settlement)
    return settlement.finished()
  } catch (error) {
    return (await storedInDoubt(deps, error, of)) ?? postEnd(deps, settlement, of)
  }
}

/**
 * The end that a COMMIT with a lost answer stored, after the locks of its account are released;
 * undefined if the run is open still.
 * @throws the error when it is not such a COMMIT or the lookup fails.
 */
async function storedInDoubt(
  deps: Deps,
  error: unknown,
  of: RunEnd,
): Promise<FinishedRun | undefined> {
  if (!(error instanceof StorageFault) || !error.options.doubt || error.isLasting) throw error
  const found = await deps.runs.findCommitted(of.open).catch(() => {
    throw error
  })
  if (found?.finishedAt === null) return undefined
  if (!found?.digest || found.outcome !== of.ending.outcome) throw error
  return { run: found, receiptId: receiptIdOf(found.id), digest: toHex(found.digest) }
}

/** The ending of a run whose beginning or end could not be stored; it charges nothing. */
export const unstored = {
  outcome: 'failed',
  usage: undefined,
  output: null,
  error: { type: 'internal_error', message: 'The end of the run could not be stored.' },
} as const

/** Ends a run, if it exists and is open, when the database accepts writes again. */
export function freeLater(
  deps: Deps,
  run: Pick<RunRow, 'id' | 'accountId'>,
  prices: Prices,
  ending: Ending,
  durationMs: number,
): void {
  deps.live.settleLater(run.id, async () => {
    const row = await deps.runs.findCommitted(run)
    if (row?.finishedAt !== null) return
    await settle(deps, { open: row, prices, ending, durationMs, call: {} })
  })
}
